// Collectives of this process and its peers by size, alone and beside a matrix product.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

#include "executor/cuda/bench.hpp"
#include "executor/cuda/device.hpp"
#include "executor/cuda/device_groups.hpp"
#include "executor/cuda/libraries.hpp"
#include "executor/cuda/on_device.hpp"
#include "executor/cuda/stream_clock.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise::cuda {

namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter, CollectiveKind::broadcast};
constexpr std::int64_t kMebi = 1 << 20;
constexpr std::int64_t kSizes[] = {16 << 10,   128 << 10,  kMebi,       4 * kMebi,
                                   16 * kMebi, 64 * kMebi, 256 * kMebi, 1024 * kMebi};
constexpr std::int64_t kMost = 1024 * kMebi, kBeside = 256 * kMebi;

// Calls in a row, so that a batch is longer than what starting it costs.
int calls_of(std::int64_t bytes) { return bytes <= kMebi ? 20 : bytes <= 16 * kMebi ? 5 : 1; }

// Wires speed up in their first second (sockets by a third), and neighbours disturb them for a while: the
// first round does not count, and each time comes from several rounds.
constexpr int kRounds = 4, kBatches = 3;

// One of several groups that meet over one rendezvous.
class Corner final : public Rendezvous {
  public:
    Corner(Rendezvous& whole, std::string name) : whole_(whole), name_(std::move(name)) {}
    int rank() const override { return whole_.rank(); }
    int world() const override { return whole_.world(); }
    int local_rank() const override { return whole_.local_rank(); }
    void set(const std::string& key, std::span<const std::byte> value) override {
        whole_.set(name_ + key, value);
    }
    std::vector<std::byte> get(const std::string& key) override { return whole_.get(name_ + key); }
    void check() const override { whole_.check(); }

    // Rank 0's number, on all ranks.
    double agree(const std::string& key, double mine) {
        if (rank() == 0) set(key, std::as_bytes(std::span(&mine, 1)));
        const std::vector<std::byte> bytes = get(key);
        ensure(bytes.size() == sizeof mine, "a number arrives whole");
        std::memcpy(&mine, bytes.data(), sizeof mine);
        return mine;
    }

  private:
    Rendezvous& whole_;
    std::string name_;
};

// The first `ranks` ranks, their buffers and the stream of their calls.
class Group {
  public:
    Group(int ranks, Rendezvous& rendezvous)
        : ranks_(ranks),
          corner_(rendezvous, fmt::format("bench/{}/", ranks)),
          groups_(make_nccl_groups({.rank = rendezvous.rank(), .shard = ranks}, corner_)),
          send_(static_cast<std::size_t>(kMost)),
          receive_(static_cast<std::size_t>(kMost)),
          stream_(make_stream(true)) {
        check(cudaMemset(send_.data(), 0, send_.size()), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }

    int ranks() const { return ranks_; }
    Corner& corner() { return corner_; }
    cudaStream_t stream() const { return stream_.get(); }

    void call(CollectiveKind kind, std::int64_t bytes, int times = 1) {
        const std::int64_t whole = bytes / size_of(DType::bf16) / ranks_ * ranks_;
        const CollectiveCall call{.kind = kind,
                                  .dtype = DType::bf16,
                                  .count = whole,
                                  .send = send_.data(),
                                  .receive = receive_.data()};
        for (int i = 0; i < times; ++i) groups_->run(Axis::world, call, stream());
    }

    // Seconds a call, one a batch.
    std::vector<double> sample(CollectiveKind kind, std::int64_t bytes, int batches) {
        const int calls = calls_of(bytes);
        std::vector<double> seconds;
        Stopwatch watch;
        for (int i = -1; i < batches; ++i) {
            watch.start(stream());
            call(kind, bytes, calls);
            watch.stop(stream());
            const double taken = watch.seconds();
            if (i >= 0) seconds.push_back(taken / calls);
        }
        return seconds;
    }

  private:
    int ranks_;
    Corner corner_;
    std::unique_ptr<DeviceGroups> groups_;
    DeviceMemory send_, receive_;
    Stream stream_;
};

// A linear layer of a 7B model on 4096 tokens, on a stream of its own.
class Product {
  public:
    Product()
        : left_(bytes(shape_.m * shape_.k)),
          right_(bytes(shape_.n * shape_.k)),
          result_(bytes(shape_.m * shape_.n)),
          workspace_(kGemmWorkspace),
          stream_(make_stream(false)) {
        operands_ = {.left = {left_.data(), DType::bf16},
                     .right = {right_.data(), DType::bf16},
                     .result = {result_.data(), DType::bf16}};
        check(cudaMemset(left_.data(), 0x3c, left_.size()), "cudaMemset");
        check(cudaMemset(right_.data(), 0x3c, right_.size()), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        plan_ = libraries_.gemm(shape_, operands_);
        ensure(plan_ != nullptr, "cuBLASLt multiplies bf16");
        libraries_.tune(workspace_.data(), stream());
    }

    const Gemm& shape() const { return shape_; }
    cudaStream_t stream() const { return stream_.get(); }
    void call(int times) {
        for (int i = 0; i < times; ++i) plan_->run(operands_, workspace_.data(), stream());
    }

  private:
    static std::size_t bytes(std::int64_t elements) {
        return static_cast<std::size_t>(elements * size_of(DType::bf16));
    }
    Gemm shape_{.m = 4096, .n = 14336, .k = 4096};
    DeviceMemory left_, right_, result_, workspace_;
    GemmOperands operands_;
    Stream stream_;
    Libraries libraries_;
    std::shared_ptr<const GemmPlan> plan_;
};

// One of two works of known lengths, timed alone and while the other runs from before its begin to after its
// end, in turn: the clock, which the power limit holds down under a long product, is then the same for both.
struct Side {
    std::function<void(int)> call;
    cudaStream_t stream;
    double alone;  // seconds a call
};
struct InTurn {
    Timing alone, beside;
};
InTurn time_in_turn(const Side& timed, const Side& other) {
    constexpr double kSlice = 5e-3;  // seconds of the timed work
    constexpr int kTurns = 15;
    const int calls = std::max(2, static_cast<int>(kSlice / timed.alone));
    const int others = 1 + static_cast<int>(std::ceil(4 * calls * timed.alone / other.alone));
    std::vector<double> alone, beside;
    Stopwatch watch, around;
    for (int turn = 0; turn < kTurns; ++turn) {
        watch.start(timed.stream);
        timed.call(calls);
        watch.stop(timed.stream);
        alone.push_back(watch.seconds() / calls);
        around.start(other.stream);
        other.call(others);
        around.stop(other.stream);
        timed.call(1);  // both are under way
        watch.start(timed.stream);
        timed.call(calls);
        watch.stop(timed.stream);
        const double taken = watch.seconds() / calls;
        if (watch.seconds_to_end_of(around) >= 0) beside.push_back(taken);
    }
    return {timing_of(std::move(alone)), beside.empty() ? Timing{} : timing_of(std::move(beside))};
}

ContentionTiming measure_contention(Group& group, Product& product, CollectiveKind kind) {
    StreamClock clock(product.stream());
    const Timing collective = timing_of(group.sample(kind, kBeside, kBatches));
    const Timing product_time = clock.time([&] { product.call(1); }, [] {});
    const std::string key(name_of(kind));
    const Side wires{[&](int times) { group.call(kind, kBeside, times); }, group.stream(),
                     group.corner().agree(key + "/collective", collective.median.value())};
    const Side compute{[&](int times) { product.call(times); }, product.stream(),
                       group.corner().agree(key + "/product", product_time.median.value())};
    const InTurn products = time_in_turn(compute, wires), collectives = time_in_turn(wires, compute);
    return {product.shape(),
            products.alone,
            products.beside,
            {kind, Bytes(kBeside), group.ranks(), collectives.alone},
            collectives.beside};
}

void measure_group(int ranks, const DeviceRank& rank, const std::function<void(const std::string&)>& progress,
                   WireCosts& costs) {
    const DeviceWatch watch(rank.device);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const Bytes before = watch.used();
    Group group(ranks, *rank.rendezvous);
    for (const CollectiveKind kind : kKinds) group.call(kind, kMebi);
    check(cudaStreamSynchronize(group.stream()), "cudaStreamSynchronize");
    costs.communicator = watch.used() - before - Bytes(2 * kMost);
    std::map<std::pair<CollectiveKind, std::int64_t>, std::vector<double>> seconds;
    for (int round = 0; round < kRounds; ++round)
        for (const CollectiveKind kind : kKinds)
            for (const std::int64_t bytes : kSizes) {
                progress(fmt::format("{} GPUs, {}, {}, round {} of {}", ranks, name_of(kind),
                                     to_text(Bytes(bytes)), round + 1, kRounds));
                const std::vector<double> batches = group.sample(kind, bytes, kBatches);
                auto& all = seconds[{kind, bytes}];
                if (round > 0) all.insert(all.end(), batches.begin(), batches.end());
            }
    for (auto& [call, samples] : seconds)
        costs.collectives.push_back({call.first, Bytes(call.second), ranks, timing_of(std::move(samples))});
    if (ranks < rank.rendezvous->world()) return;
    Product product;
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
        progress(fmt::format("{} GPUs, {} beside a product", ranks, name_of(kind)));
        costs.contention.push_back(measure_contention(group, product, kind));
    }
}

}  // namespace

WireCosts measure_wires(const DeviceRank& rank, const std::function<void(const std::string&)>& progress) {
    ensure(rank.rendezvous != nullptr, "ranks of other processes meet somewhere");
    return on_device(rank.rank, rank.device, [&] {
        check(cudaFree(nullptr), "cudaFree");  // the context is not the communicator's
        WireCosts costs;
        for (int ranks = 2; ranks <= rank.rendezvous->world(); ++ranks)
            if (rank.rank < ranks) measure_group(ranks, rank, progress, costs);
        if (rank.rank > 0) return WireCosts{costs.communicator, {}, {}};
        return costs;
    });
}

}  // namespace wirewise::cuda
