#include "executor/host/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "executor/host/gate.hpp"
#include "executor/host/rank_set.hpp"

namespace wirewise {

namespace {

using Clock = std::chrono::steady_clock;

// An op that stands for all equal ones of the step.
struct Subject {
    std::size_t op = 0;
    int calls = 1;
    bool collective = false;
    int repetitions = 2;
    std::vector<double> by_rank;  // seconds per repetition in the current round
    std::vector<double> rounds;   // mean over ranks, by round
};

bool same_work(const Op& a, const Op& b) {
    const auto *kernel_a = std::get_if<Compute>(&a.payload), *kernel_b = std::get_if<Compute>(&b.payload);
    if (kernel_a && kernel_b) return kernel_a->kernel == kernel_b->kernel;
    const auto *call_a = std::get_if<Collective>(&a.payload), *call_b = std::get_if<Collective>(&b.payload);
    return call_a && call_b && call_a->kind == call_b->kind && call_a->axis == call_b->axis &&
           call_a->bytes == call_b->bytes;
}

std::vector<Subject> subjects_of(const StepProgram& program, int ranks) {
    std::vector<Subject> subjects;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const Op& op = program.ops[i];
        if (!std::holds_alternative<Compute>(op.payload) && !std::holds_alternative<Collective>(op.payload))
            continue;
        const auto known = std::find_if(subjects.begin(), subjects.end(), [&](const Subject& subject) {
            return same_work(program.ops[subject.op], op);
        });
        if (known != subjects.end())
            ++known->calls;
        else
            subjects.push_back({.op = i,
                                .collective = std::holds_alternative<Collective>(op.payload),
                                .by_rank = std::vector<double>(static_cast<std::size_t>(ranks))});
    }
    return subjects;
}

// With more ranks than cores their turns differ: the mean over ranks is what the machine gave.
double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the rounds: a machine that does something else for a moment disturbs one of them.
double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Kernel work done before each repetition of a collective: ranks come to it from work, not from each other,
// and what waiting for the last of them costs is part of its price.
struct Filler {
    std::size_t subject = 0;
    int repetitions = 0;
};

class Bench {
  public:
    explicit Bench(RankSet& ranks) : ranks_(ranks), subjects_(subjects_of(ranks.program(), ranks.size())) {}

    const std::vector<Subject>& run() {
        round();  // warms up, and tells how often is enough
        choose_repetitions();
        for (Subject& subject : subjects_) subject.rounds.clear();
        for (int i = 0; i < kRounds; ++i) round();
        return subjects_;
    }

  private:
    static constexpr int kRounds = 7;
    static constexpr double kTarget = 1e-3;  // seconds per subject and round

    void round() {
        Gate together(ranks_.size());
        ranks_.run([&](int rank) {
            for (Subject& subject : subjects_) {
                together.pass();
                subject.by_rank[static_cast<std::size_t>(rank)] = time_one(subject, rank);
            }
        });
        for (Subject& subject : subjects_) subject.rounds.push_back(mean(subject.by_rank));
        for (Subject& subject : subjects_)
            if (subject.collective)
                subject.rounds.back() = std::max(subject.rounds.back() - filler_seconds(), 1e-7);
    }

    double time_one(const Subject& subject, int rank) const {
        const std::vector<BoundOp>& ops = ranks_.at(rank).ops();
        const Work& work = ops[subject.op].work;
        const Work& filling = ops[subjects_[filler_.subject].op].work;
        const int fillings = subject.collective ? filler_.repetitions : 0;
        const auto start = Clock::now();
        for (int i = 0; i < subject.repetitions; ++i) {
            for (int f = 0; f < fillings; ++f) filling();
            work();
        }
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        return elapsed.count() / subject.repetitions;
    }

    double filler_seconds() const { return filler_.repetitions * subjects_[filler_.subject].rounds.back(); }

    void choose_repetitions() {
        double kernel_seconds = 0;
        int collective_calls = 0;
        const auto step_share = [](const Subject& subject) { return subject.calls * subject.rounds.back(); };
        for (std::size_t i = 0; i < subjects_.size(); ++i) {
            collective_calls += subjects_[i].collective ? subjects_[i].calls : 0;
            if (subjects_[i].collective) continue;
            kernel_seconds += step_share(subjects_[i]);
            const Subject& longest = subjects_[filler_.subject];
            if (longest.collective || step_share(subjects_[i]) > step_share(longest)) filler_.subject = i;
        }
        const double between = collective_calls > 0 ? kernel_seconds / collective_calls : 0;
        const double each = subjects_[filler_.subject].rounds.back();
        filler_.repetitions = static_cast<int>(std::clamp(between / each + 0.5, 1.0, 1000.0));
        for (Subject& subject : subjects_) {
            const double seconds = subject.rounds.back() + (subject.collective ? between : 0);
            subject.repetitions = static_cast<int>(std::clamp(kTarget / seconds, 2.0, 200.0));
        }
    }

    RankSet& ranks_;
    std::vector<Subject> subjects_;
    Filler filler_;
};

BytesPerSecond measure_copy() {
    constexpr std::size_t kBytes = 1 << 20;
    std::vector<std::byte> from(kBytes), to(kBytes);
    std::memcpy(to.data(), from.data(), kBytes);
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), kBytes);
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    return Bytes(kBytes) / Seconds(std::max(elapsed.count(), 1e-9));
}

}  // namespace

HostSamples bench_host(const Transformer& model, const ParallelPlan& plan, const Hyperparameters& numbers) {
    RankSet ranks(model, plan, numbers);
    HostSamples samples;
    Bench bench(ranks);
    for (const Subject& subject : bench.run()) {
        const Op& op = ranks.program().ops[subject.op];
        const Seconds seconds(median(subject.rounds));
        if (const auto* compute = std::get_if<Compute>(&op.payload))
            samples.kernels.push_back({ranks.program().at(compute->kernel), subject.calls, seconds});
        else if (const auto* call = std::get_if<Collective>(&op.payload))
            samples.collectives.push_back({call->axis, call->kind, call->bytes, seconds});
    }
    samples.copy_rate = measure_copy();
    return samples;
}

}  // namespace wirewise
