#include "simulator/planner/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/cost/host_costs.hpp"
#include "model/memory/stale_bucket.hpp"
#include "model/memory/states.hpp"
#include "model/strategy/lower.hpp"

namespace wirewise {

namespace {

// NCCL's transports, the faster first.
std::size_t slowness(std::string_view transport) {
    constexpr std::array<std::string_view, 3> order{"p2p", "shm", "net"};
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), transport) - order.begin());
}

// One communicator per distinct set of groups: axes whose groups are the same (DDP's replicas are the whole
// world) share one, as their pricer is one.
RuntimeMemory runtime_memory(const StepProgram& program, const RuntimeCosts& costs, const Wires& wires) {
    RuntimeMemory memory{costs.context_bytes, Bytes(0), ""};
    std::vector<const CollectivePricer*> seen;
    for (const Op& op : program.ops) {
        const auto* call = std::get_if<Collective>(&op.payload);
        if (!call || wires.alone(call->axis)) continue;
        const CollectivePricer* pricer = &wires.of(call->axis);
        if (std::find(seen.begin(), seen.end(), pricer) != seen.end()) continue;
        seen.push_back(pricer);
        const std::string transport(pricer->price(call->kind, call->bytes).transport);
        if (memory.transport.empty() || slowness(transport) > slowness(memory.transport))
            memory.transport = transport;
        const auto held = costs.communicator_bytes.find(transport);
        if (held != costs.communicator_bytes.end()) memory.communicators += held->second;
    }
    return memory;
}

void add_kernel(Estimate& estimate, const Kernel& kernel, Seconds seconds) {
    estimate.executed += flops_of(kernel);
    if (std::holds_alternative<Gemm>(kernel))
        estimate.gemm += seconds;
    else if (std::holds_alternative<Attention>(kernel))
        estimate.attention += seconds;
    else if (std::holds_alternative<Pointwise>(kernel))
        estimate.pointwise += seconds;
}

void add_collective(std::vector<CollectiveUse>& uses, const Collective& call, Seconds seconds,
                    const Wires& wires) {
    auto use = std::find_if(uses.begin(), uses.end(), [&](const auto& other) {
        return other.kind == call.kind && other.axis == call.axis;
    });
    if (use == uses.end())
        use = uses.insert(uses.end(), CollectiveUse{.kind = call.kind,
                                                    .axis = call.axis,
                                                    .bytes = {},
                                                    .seconds = {},
                                                    .link = {},
                                                    .busbw = {},
                                                    .measured = true,
                                                    .spread = 1});
    const CollectivePrice price = wires.of(call.axis).price(call.kind, call.bytes);
    use->calls += 1;
    use->bytes += call.bytes;
    use->seconds += seconds;
    use->measured = use->measured && price.measured;
    if (price.busbw_low.value() > 0) use->spread = std::max(use->spread, price.busbw / price.busbw_low);
    if (price.busbw > use->busbw) {
        use->busbw = price.busbw;
        use->link = price.bottleneck;
    }
}

void attribute(Estimate& estimate, const StepProgram& program, const Timeline& timeline, const Wires& wires) {
    for (const Span& span : timeline.spans) {
        const Op& op = program.ops[index_of(span.op)];
        const Seconds seconds = to_seconds(span.end - span.begin);
        if (const auto* compute = std::get_if<Compute>(&op.payload))
            add_kernel(estimate, program.at(compute->kernel), seconds);
        else if (const auto* call = std::get_if<Collective>(&op.payload); call && !wires.alone(call->axis))
            add_collective(estimate.collectives, *call, seconds, wires);
    }
    std::stable_sort(estimate.collectives.begin(), estimate.collectives.end(),
                     [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
}

// The stale bucket to expect: see likely_stale_bucket.
ParallelPlan with_likely_bucket(const Transformer& model, ParallelPlan plan, const Wires& wires) {
    const Bytes parameters = bytes_of(model.parameters(), plan.precision.parameter);
    const bool broadcasts = plan.strategy == Strategy::zero1 && wires.world;
    plan.stale_bucket = likely_stale_bucket(
        states_of(model.parameters(), plan).optimizer,
        broadcasts ? wires.world->price(CollectiveKind::broadcast, parameters).seconds : Seconds(0));
    return plan;
}

std::vector<RacePeak> other_races(const Transformer& model, const ParallelPlan& plan) {
    std::vector<RacePeak> others;
    for (const auto state : {StaleBucket::freed_at_rebuild, StaleBucket::freed_at_buffer_broadcast,
                             StaleBucket::freed_in_backward}) {
        if (state == plan.stale_bucket) continue;
        ParallelPlan variant = plan;
        variant.stale_bucket = state;
        const WalkedPhases walked = walk_phases(model, variant);
        others.push_back({walked.peak.allocated, walked.reserved});
    }
    return others;
}

// Whether what is allocated fits and what is reserved perhaps not: within a margin wider than the intervals are.
bool cache_decides(const Estimate& estimate, const ParallelPlan& plan, Bytes limit) {
    constexpr std::int64_t kMarginPart = 4;
    const Bytes used = estimate.device_used();
    return plan.runtime != Runtime::native && used + used / kMarginPart > limit &&
           estimate.peak.allocated + estimate.runtime.total() <= limit;
}

Estimate walked(const Transformer& model, const ParallelPlan& plan, const Site& site, const Wires& wires,
                StepProgram& steady) {
    const bool race = has_stale_bucket(plan);
    const ParallelPlan expected = race ? with_likely_bucket(model, plan, wires) : plan;
    WalkedPhases phases = walk_phases(model, expected);
    steady = std::move(phases.steady);
    Estimate estimate;
    estimate.phases = std::move(phases.phases);
    estimate.host = host_memory_of(estimate.phases, host_share(site.machine(), site.gpus()).ranks,
                                   site.machine().host_memory);
    estimate.peak = phases.peak;
    estimate.reserved = phases.reserved;
    if (race) estimate.others = other_races(model, expected);
    estimate.runtime = runtime_memory(steady, site.profile().runtime(name_of(plan.runtime)), wires);
    if (cache_decides(estimate, plan, site.memory_limit()))
        estimate.spare = std::max(Bytes(0), estimate.reserved - least_reserved(model, plan));
    return estimate;
}

void time_step(Estimate& estimate, const StepProgram& program, const ParallelPlan& plan, const Site& site,
               const Wires& wires) {
    const Timeline timeline = simulate_on(site, plan, program);
    estimate.time = summarize(program, timeline);
    attribute(estimate, program, timeline, wires);
}

// What `factor` times the micro-batches that `shorter` has not would add.
void lengthen(Estimate& estimate, const Estimate& shorter, double factor) {
    const auto grow = [&](auto& value, auto less) { value += (value - less) * factor; };
    const auto grow_count = [&](std::int64_t& value, std::int64_t less) {
        value += std::llround(static_cast<double>(value - less) * factor);
    };
    for (const auto part : {&TimelineSummary::step, &TimelineSummary::compute,
                            &TimelineSummary::communication, &TimelineSummary::exposed_communication,
                            &TimelineSummary::optimizer, &TimelineSummary::idle, &TimelineSummary::host_busy})
        grow(estimate.time.*part, shorter.time.*part);
    for (const auto part : {&Estimate::gemm, &Estimate::attention, &Estimate::pointwise})
        grow(estimate.*part, shorter.*part);
    grow(estimate.executed, shorter.executed);
    for (CollectiveUse& use : estimate.collectives)
        for (const CollectiveUse& less : shorter.collectives) {
            if (less.kind != use.kind || less.axis != use.axis) continue;
            std::int64_t bytes = use.bytes.count();
            grow_count(bytes, less.bytes.count());
            use.bytes = Bytes(bytes);
            grow_count(use.calls, less.calls);
            grow(use.seconds, less.seconds);
        }
}

// Long accumulations are simulated with few micro-batches: each further one takes what the last ones took.
void add_further_micro_batches(Estimate& estimate, const Transformer& model, const ParallelPlan& plan,
                               const Site& site, const Wires& wires) {
    ParallelPlan half = with_walked_micro_batches(plan);
    const auto further = static_cast<double>(plan.gradient_accumulation - half.gradient_accumulation);
    half.gradient_accumulation /= 2;
    Estimate shorter;
    time_step(shorter, lower(model, half, Phase::steady_step), half, site, wires);
    lengthen(estimate, shorter, further / static_cast<double>(half.gradient_accumulation));
}

}  // namespace

Estimate estimate_memory(const Transformer& model, const ParallelPlan& plan, const Site& site) {
    StepProgram steady;
    return walked(model, plan, site, site.wires(plan.mesh), steady);
}

Timeline simulate_on(const Site& site, const ParallelPlan& plan, const StepProgram& program) {
    const CostProfile profile = in_machine(site.profile(), host_share(site.machine(), site.gpus()));
    return simulate(program, profile, site.wires(plan.mesh), profile.runtime(name_of(plan.runtime)));
}

Estimate estimate(const Transformer& model, const ParallelPlan& plan, const Site& site) {
    const Wires wires = site.wires(plan.mesh);
    StepProgram steady;
    Estimate estimate = walked(model, plan, site, wires, steady);
    time_step(estimate, steady, plan, site, wires);
    if (plan.gradient_accumulation > kWalkedMicroBatches)
        add_further_micro_batches(estimate, model, plan, site, wires);
    return estimate;
}

}  // namespace wirewise
