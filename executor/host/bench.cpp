#include "executor/host/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "executor/host/gate.hpp"
#include "executor/host/rank_set.hpp"
#include "executor/training/convert.hpp"

namespace wirewise {

namespace {

using Clock = std::chrono::steady_clock;

// An op that stands for all equal ones of the step.
struct Subject {
    std::size_t op = 0;
    int calls = 1;
    bool collective = false, gemm = false;
    int repetitions = 2;
    std::vector<Seconds> begin, end;  // by rank, in the current round
    std::vector<double> rounds;       // seconds per repetition, by round
};

bool same_work(const Op& a, const Op& b) {
    const auto *kernel_a = std::get_if<Compute>(&a.payload), *kernel_b = std::get_if<Compute>(&b.payload);
    if (kernel_a && kernel_b) return kernel_a->kernel == kernel_b->kernel;
    const auto *call_a = std::get_if<Collective>(&a.payload), *call_b = std::get_if<Collective>(&b.payload);
    return call_a && call_b && call_a->kind == call_b->kind && call_a->axis == call_b->axis &&
           call_a->bytes == call_b->bytes;
}

bool is_gemm(const StepProgram& program, const Op& op) {
    const auto* const compute = std::get_if<Compute>(&op.payload);
    return compute && std::holds_alternative<Gemm>(program.at(compute->kernel));
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
                                .gemm = is_gemm(program, op),
                                .begin = std::vector<Seconds>(static_cast<std::size_t>(ranks)),
                                .end = std::vector<Seconds>(static_cast<std::size_t>(ranks))});
    }
    return subjects;
}

// The lower one of two middle values.
double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Of one repetition. Kernels: of a rank in the middle, for with more ranks than cores some are interrupted,
// which in a step they seldom are. Collectives: from the first rank's begin to the last one's end, for they
// end together.
double seconds_of(const Subject& subject) {
    std::vector<double> own;
    for (std::size_t rank = 0; rank < subject.begin.size(); ++rank)
        own.push_back((subject.end[rank] - subject.begin[rank]).value());
    const Seconds span = *std::max_element(subject.end.begin(), subject.end.end()) -
                         *std::min_element(subject.begin.begin(), subject.begin.end());
    return (subject.collective ? span.value() : median(own)) / subject.repetitions;
}

// Kernel work done before each repetition of a collective: ranks come to it from work, not from each other,
// and what waiting for the last of them costs is part of its price.
struct Filler {
    std::size_t subject = 0;
    int repetitions = 0;
};

class Bench {
  public:
    explicit Bench(RankSet& ranks) : ranks_(ranks), subjects_(subjects_of(ranks.program(), ranks.world())) {}

    const std::vector<Subject>& run() {
        for (int warm = 0; warm < 2;
             ++warm) {  // the first round warms up, the second one is long enough to be true
            round();
            choose_repetitions();
        }
        for (Subject& subject : subjects_) subject.rounds.clear();
        const auto start = Clock::now();
        for (int i = 0; i < kRounds && Clock::now() - start < kLongest; ++i) round();
        return subjects_;
    }

  private:
    static constexpr int kRounds = 7;
    static constexpr std::chrono::seconds kLongest{2};  // after which no round begins
    static constexpr double kTarget = 1e-3;             // seconds per subject and round
    static constexpr double kCollectiveTarget = 5e-3;   // long enough that starting together no longer counts

    void round() {
        Gate together(ranks_.world());
        ranks_.run([&](int rank) {
            try {
                for (Subject& subject : subjects_) {
                    fill_operands(ranks_.program().ops[subject.op], rank);
                    together.pass();
                    time_one(subject, rank);
                }
            } catch (...) {
                together.close();  // nobody waits for this rank
                throw;
            }
        });
        for (Subject& subject : subjects_) subject.rounds.push_back(seconds_of(subject));
        for (Subject& subject : subjects_)
            if (subject.collective)
                subject.rounds.back() = std::max(subject.rounds.back() - filler_seconds(), 1e-7);
    }

    // Ordinary positive numbers: the time of exponentials depends on their arguments, and of all arithmetic
    // on whether repetition has driven values to zero or beyond all bounds.
    void fill_operands(const Op& op, int rank) const {
        for (const Operand& operand : ranks_.program().operands_of(op)) {
            const Buffer& buffer = ranks_.program().at(operand.buffer);
            if (!is_floating(buffer.dtype)) continue;
            std::vector<float> values(static_cast<std::size_t>(buffer.bytes.count() / size_of(buffer.dtype)));
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = 0.1F + 0.5F * static_cast<float>(i % 64) / 64;
            narrow(values, buffer.dtype, ranks_.at(rank).memory().at(operand.buffer));
        }
    }

    void time_one(Subject& subject, int rank) {
        const std::vector<BoundOp>& ops = ranks_.at(rank).ops();
        const Work& work = ops[subject.op].work;
        const Work& filling = ops[subjects_[filler_.subject].op].work;
        const int fillings = subject.collective ? filler_.repetitions : 0;
        subject.begin[static_cast<std::size_t>(rank)] = now();
        for (int i = 0; i < subject.repetitions; ++i) {
            for (int f = 0; f < fillings; ++f) filling();
            work();
        }
        subject.end[static_cast<std::size_t>(rank)] = now();
    }

    Seconds now() const { return Seconds(std::chrono::duration<double>(Clock::now() - epoch_).count()); }

    double filler_seconds() const { return filler_.repetitions * subjects_[filler_.subject].rounds.back(); }

    void choose_repetitions() {
        double kernel_seconds = 0;
        int collective_calls = 0;
        for (const Subject& subject : subjects_)
            if (subject.collective)
                collective_calls += subject.calls;
            else
                kernel_seconds += step_share(subject);
        const double between = collective_calls > 0 ? kernel_seconds / collective_calls : 0;
        choose_filler(between);
        for (Subject& subject : subjects_) {
            const double target = subject.collective ? kCollectiveTarget : kTarget;
            const double seconds = subject.rounds.back() + (subject.collective ? between : 0);
            subject.repetitions = static_cast<int>(std::clamp(target / seconds, 1.0, 200.0));
        }
    }

    static double step_share(const Subject& subject) { return subject.calls * subject.rounds.back(); }

    // The matrix product with the largest share of the step among those short enough to fill the time between
    // two collectives to a few per cent; the shortest one where none is.
    void choose_filler(double between) {
        constexpr double kFine = 8;
        const auto better = [&](const Subject& a, const Subject& b) {
            const bool a_fits = a.rounds.back() * kFine <= between,
                       b_fits = b.rounds.back() * kFine <= between;
            if (!a.gemm || !b.gemm) return a.gemm && !b.gemm;
            if (a_fits != b_fits) return a_fits;
            return a_fits ? step_share(a) > step_share(b) : a.rounds.back() < b.rounds.back();
        };
        const auto found = std::min_element(subjects_.begin(), subjects_.end(), better);
        filler_.subject = static_cast<std::size_t>(found - subjects_.begin());
        filler_.repetitions = static_cast<int>(std::clamp(between / found->rounds.back() + 0.5, 1.0, 1000.0));
    }

    const Clock::time_point epoch_ = Clock::now();
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
        // A machine that does something else for a moment disturbs one round.
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
