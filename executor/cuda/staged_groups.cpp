#include <algorithm>
#include <vector>

#include "executor/cuda/device_groups.hpp"

namespace wirewise::cuda {

namespace {

// Bytes of a call's send and receive side.
struct Sides {
    std::size_t send, receive;
};
Sides sides_of(const CollectiveCall& call, int ranks) {
    const auto whole = static_cast<std::size_t>(call.count * size_of(call.dtype));
    const std::size_t share = whole / static_cast<std::size_t>(ranks);
    switch (call.kind) {
        case CollectiveKind::all_gather:
            return {share, whole};
        case CollectiveKind::reduce_scatter:
            return {whole, share};
        default:
            return {whole, whole};
    }
}

class StagedGroups final : public DeviceGroups {
  public:
    StagedGroups(GroupShape shape, RankGroups& groups) : DeviceGroups(shape), groups_(groups) {}

    void run(Axis axis, const CollectiveCall& call, cudaStream_t stream) override {
        if (size(axis) == 1 && call.send == call.receive) return;
        const Sides sides = sides_of(call, size(axis));
        sent_.resize(std::max(sent_.size(), sides.send));
        received_.resize(std::max(received_.size(), sides.receive));
        fetch({call.send, sides.send}, stream);
        CollectiveCall staged = call;
        staged.send = sent_.data();
        staged.receive = received_.data();
        groups_.along(axis).run(staged);
        bring({call.receive, sides.receive}, stream);
    }
    void send(Axis axis, int to, std::span<const std::byte> bytes, cudaStream_t stream) override {
        sent_.resize(std::max(sent_.size(), bytes.size()));
        fetch(bytes, stream);
        groups_.along(axis).send(to, {sent_.data(), bytes.size()});
    }
    void receive(Axis axis, int from, std::span<std::byte> bytes, cudaStream_t stream) override {
        received_.resize(std::max(received_.size(), bytes.size()));
        groups_.along(axis).receive(from, {received_.data(), bytes.size()});
        bring(bytes, stream);
    }

  private:
    // What was issued before on the stream is in the bytes, and in those of the other streams it waits for.
    void fetch(std::span<const std::byte> bytes, cudaStream_t stream) {
        check(cudaMemcpyAsync(sent_.data(), bytes.data(), bytes.size(), cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
    void bring(std::span<std::byte> bytes, cudaStream_t stream) {
        check(cudaMemcpyAsync(bytes.data(), received_.data(), bytes.size(), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // the staging is reused
    }

    RankGroups& groups_;
    std::vector<std::byte> sent_, received_;
};

}  // namespace

std::unique_ptr<DeviceGroups> make_staged_groups(GroupShape shape, RankGroups& groups) {
    return std::make_unique<StagedGroups>(shape, groups);
}

}  // namespace wirewise::cuda
