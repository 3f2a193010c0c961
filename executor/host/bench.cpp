#include "executor/host/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "executor/host/gate.hpp"
#include "executor/host/rank_set.hpp"

namespace wirewise {

namespace {

using Clock = std::chrono::steady_clock;

// An op that stands for all equal ones of the step.
struct Subject {
    std::size_t op = 0;
    int calls = 1;
    int repetitions = 2;
    std::vector<double> seconds;  // by rank
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
            subjects.push_back({.op = i, .seconds = std::vector<double>(static_cast<std::size_t>(ranks))});
    }
    return subjects;
}

// The mean over ranks: with more ranks than cores their turns differ, and the sum is what the machine gave.
double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

void time_subjects(RankSet& ranks, std::vector<Subject>& subjects) {
    Gate together(ranks.size());
    ranks.run([&](int rank) {
        for (Subject& subject : subjects) {
            const Work& work = ranks.at(rank).ops()[subject.op].work;
            together.pass();
            const auto start = Clock::now();
            for (int i = 0; i < subject.repetitions; ++i) work();
            const std::chrono::duration<double> elapsed = Clock::now() - start;
            subject.seconds[static_cast<std::size_t>(rank)] = elapsed.count() / subject.repetitions;
        }
    });
}

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
    constexpr double kTarget = 4e-3;  // seconds per subject
    RankSet ranks(model, plan, numbers);
    std::vector<Subject> subjects = subjects_of(ranks.program(), ranks.size());
    time_subjects(ranks, subjects);  // warms up, and tells how often is enough
    for (Subject& subject : subjects)
        subject.repetitions = static_cast<int>(std::clamp(kTarget / mean(subject.seconds), 3.0, 400.0));
    time_subjects(ranks, subjects);
    HostSamples samples;
    for (const Subject& subject : subjects) {
        const Op& op = ranks.program().ops[subject.op];
        const Seconds seconds(mean(subject.seconds));
        if (const auto* compute = std::get_if<Compute>(&op.payload))
            samples.kernels.push_back({ranks.program().at(compute->kernel), subject.calls, seconds});
        else if (const auto* call = std::get_if<Collective>(&op.payload))
            samples.collectives.push_back({call->axis, call->kind, call->bytes, seconds});
    }
    samples.copy_rate = measure_copy();
    return samples;
}

}  // namespace wirewise
