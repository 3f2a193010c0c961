#include "executor/cuda/device_groups.hpp"

#include "model/units/error.hpp"

namespace wirewise::cuda {

int GroupShape::size(Axis axis) const {
    switch (axis) {
        case Axis::shard:
            return shard;
        case Axis::replicate:
            return replicate;
        case Axis::world:
            break;
    }
    return shard * replicate;
}

int GroupShape::member(Axis axis) const {
    switch (axis) {
        case Axis::shard:
            return rank % shard;
        case Axis::replicate:
            return rank / shard;
        case Axis::world:
            break;
    }
    return rank;
}

namespace {

class LoneGroups final : public DeviceGroups {
  public:
    LoneGroups() : DeviceGroups(GroupShape{}) {}

    void run(Axis, const CollectiveCall& call, cudaStream_t stream) override {
        if (call.send == call.receive) return;
        check(cudaMemcpyAsync(call.receive, call.send,
                              static_cast<std::size_t>(call.count * size_of(call.dtype)),
                              cudaMemcpyDeviceToDevice, stream),
              "cudaMemcpyAsync");
    }
    void send(Axis, int, std::span<const std::byte> bytes, cudaStream_t) override { message_ = bytes; }
    void receive(Axis, int, std::span<std::byte> bytes, cudaStream_t stream) override {
        ensure(message_.size() == bytes.size(), "a rank alone receives what it sent");
        check(cudaMemcpyAsync(bytes.data(), message_.data(), bytes.size(), cudaMemcpyDeviceToDevice, stream),
              "cudaMemcpyAsync");
    }

  private:
    std::span<const std::byte> message_;
};

}  // namespace

std::unique_ptr<DeviceGroups> make_lone_groups() { return std::make_unique<LoneGroups>(); }

}  // namespace wirewise::cuda
