#include <array>
#include <cstring>

#include "executor/cuda/device_groups.hpp"
#include "model/units/error.hpp"

namespace wirewise::cuda {

namespace {

ncclDataType_t type_of(DType type) {
    switch (type) {
        case DType::fp32:
            return ncclFloat32;
        case DType::bf16:
            return ncclBfloat16;
        case DType::fp16:
            return ncclFloat16;
        case DType::int32:
            return ncclInt32;
        case DType::int64:
            return ncclInt64;
        default:
            break;
    }
    return ncclUint8;
}

ncclConfig_t configuration() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    return config;
}

// A communicator; ended gently when all went well, aborted otherwise.
class Communicator {
  public:
    Communicator() = default;
    explicit Communicator(ncclComm_t handle) : handle_(handle) {}
    ~Communicator() {
        if (handle_) static_cast<void>(ncclCommDestroy(handle_));
    }
    Communicator(Communicator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Communicator& operator=(Communicator&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ncclComm_t get() const { return handle_; }
    void abort() {
        if (handle_) static_cast<void>(ncclCommAbort(std::exchange(handle_, nullptr)));
    }

  private:
    ncclComm_t handle_ = nullptr;
};

ncclUniqueId exchanged_id(GroupShape shape, Rendezvous& rendezvous) {
    constexpr const char* kKey = "nccl/world";
    ncclUniqueId id;
    if (shape.rank == 0) {
        check(ncclGetUniqueId(&id), "ncclGetUniqueId");
        rendezvous.set(kKey, std::as_bytes(std::span(&id, 1)));
    }
    const std::vector<std::byte> bytes = rendezvous.get(kKey);
    ensure(bytes.size() == sizeof id, "the NCCL id arrives whole");
    std::memcpy(&id, bytes.data(), sizeof id);
    return id;
}

// One communicator for each set of groups: an axis that spans the world uses the world's, an axis of single
// ranks none.
class NcclGroups final : public DeviceGroups {
  public:
    NcclGroups(GroupShape shape, Rendezvous& rendezvous) : DeviceGroups(shape), rendezvous_(rendezvous) {
        const ncclUniqueId id = exchanged_id(shape, rendezvous);
        ncclConfig_t config = configuration();
        ncclComm_t made = nullptr;
        check(ncclCommInitRankConfig(&made, shape.size(Axis::world), id, shape.rank, &config),
              "ncclCommInitRankConfig");
        world_ = Communicator(made);
        if (shape.shard > 1 && shape.replicate > 1) {
            shard_ = split(shape.member(Axis::replicate), shape.member(Axis::shard));
            replicate_ = split(shape.member(Axis::shard), shape.member(Axis::replicate));
        }
    }

    void run(Axis axis, const CollectiveCall& call, cudaStream_t stream) override {
        if (size(axis) == 1) return alone_->run(axis, call, stream);
        const ncclComm_t comm = of(axis);
        const auto count = static_cast<std::size_t>(call.count),
                   each = count / static_cast<std::size_t>(size(axis));
        const ncclDataType_t type = type_of(call.dtype);
        const ncclRedOp_t sum = call.average ? ncclAvg : ncclSum;
        switch (call.kind) {
            case CollectiveKind::all_reduce:
                return check(ncclAllReduce(call.send, call.receive, count, type, sum, comm, stream),
                             "ncclAllReduce");
            case CollectiveKind::all_gather:
                return check(ncclAllGather(call.send, call.receive, each, type, comm, stream),
                             "ncclAllGather");
            case CollectiveKind::reduce_scatter:
                return check(ncclReduceScatter(call.send, call.receive, each, type, sum, comm, stream),
                             "ncclReduceScatter");
            case CollectiveKind::broadcast:
                return check(ncclBroadcast(call.send, call.receive, count, type, 0, comm, stream),
                             "ncclBroadcast");
            case CollectiveKind::all_to_all:
                return check(ncclAlltoAll(call.send, call.receive, each, type, comm, stream), "ncclAlltoAll");
            case CollectiveKind::send_recv:
                break;
        }
        ensure(false, "sends and receives are ops of their own");
    }
    void send(Axis axis, int to, std::span<const std::byte> bytes, cudaStream_t stream) override {
        check(ncclSend(bytes.data(), bytes.size(), ncclUint8, to, of(axis), stream), "ncclSend");
    }
    void receive(Axis axis, int from, std::span<std::byte> bytes, cudaStream_t stream) override {
        check(ncclRecv(bytes.data(), bytes.size(), ncclUint8, from, of(axis), stream), "ncclRecv");
    }

    void poll() override {
        rendezvous_.check();
        for (const Communicator* const communicator : {&world_, &shard_, &replicate_}) {
            if (!communicator->get()) continue;
            ncclResult_t state = ncclSuccess;
            check(ncclCommGetAsyncError(communicator->get(), &state), "ncclCommGetAsyncError");
            check(state, "NCCL, asynchronously");
        }
    }
    void abort() noexcept override {
        for (Communicator* const communicator : {&shard_, &replicate_, &world_}) communicator->abort();
    }

  private:
    Communicator split(int color, int key) {
        ncclConfig_t config = configuration();
        ncclComm_t made = nullptr;
        check(ncclCommSplit(world_.get(), color, key, &made, &config), "ncclCommSplit");
        return Communicator(made);
    }
    ncclComm_t of(Axis axis) const {
        if (axis == Axis::shard && shard_.get()) return shard_.get();
        if (axis == Axis::replicate && replicate_.get()) return replicate_.get();
        return world_.get();
    }

    std::unique_ptr<DeviceGroups> alone_ = make_lone_groups();
    const Rendezvous& rendezvous_;
    Communicator world_, shard_, replicate_;
};

}  // namespace

std::unique_ptr<DeviceGroups> make_nccl_groups(GroupShape shape, Rendezvous& rendezvous) {
    return std::make_unique<NcclGroups>(shape, rendezvous);
}

}  // namespace wirewise::cuda
