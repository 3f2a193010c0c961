#include "simulator/tasks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/cost/contention.hpp"
#include "model/cost/kernel_time.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

double picoseconds(Seconds time) { return std::round(time.value() * kPicosecondsPerSecond); }

// Copies in one direction share a copy engine's link; collectives of one transport share theirs.
enum Link : std::uint8_t { device_to_device, device_to_host, host_to_device, first_transport };

struct PricedCollective {
    Axis axis;
    CollectiveKind kind;
    Bytes bytes;
    double work;
    WireContention contention;
    std::uint8_t link;
};

class Pricing {
  public:
    Pricing(const StepProgram& program, const CostProfile& profile, const CollectiveCost& wires,
            const RuntimeCosts& runtime)
        : program_(program), profile_(profile), wires_(wires), runtime_(runtime) {
        price_kernels();
        result_.streams.resize(program.streams.size());
        result_.event_count = program.event_count;
        reserve();
    }

    StepTasks run() {
        for (std::size_t i = 0; i < program_.ops.size(); ++i) add(static_cast<std::uint32_t>(i));
        const double mean_op =
            static_cast<double>(host_) / static_cast<double>(std::max<std::size_t>(launches_, 1));
        result_.host_total = host_;
        result_.host_lead_limit = static_cast<Picoseconds>(mean_op * runtime_.run_ahead);
        result_.mean_residual = matrix_sum_ > 0 ? matrix_squares_ / (2 * matrix_sum_) : 0;
        return std::move(result_);
    }

  private:
    struct PricedKernel {
        TaskKind kind;
        double work;
    };

    void price_kernels() {
        kernels_.reserve(program_.kernels.size());
        const auto kind_of = Overloaded{[](const Gemm&) { return TaskKind::gemm; },
                                        [](const Attention&) { return TaskKind::attention; },
                                        [](const Pointwise&) { return TaskKind::memory_bound; },
                                        [](const OptimizerUpdate&) { return TaskKind::memory_bound; }};
        for (const Kernel& kernel : program_.kernels) {
            double factor = 1;
            if (std::holds_alternative<Attention>(kernel)) factor = profile_.attention.in_step_factor;
            if (std::holds_alternative<OptimizerUpdate>(kernel)) factor = profile_.optimizer.in_step_factor;
            kernels_.push_back(
                {std::visit(kind_of, kernel), picoseconds(factor * kernel_time(kernel, profile_))});
        }
    }

    void reserve() {
        std::vector<std::size_t> counts(program_.streams.size());
        for (const Op& op : program_.ops) ++counts[index_of(op.stream)];
        for (std::size_t s = 0; s < counts.size(); ++s) result_.streams[s].reserve(counts[s]);
    }

    void add(std::uint32_t index) {
        const Op& op = program_.ops[index];
        std::visit(
            Overloaded{
                [&](const Compute& x) { add_kernel(index, op, x); },
                [&](const Collective& x) { add_collective(index, op, x.axis, x.kind, x.bytes); },
                [&](const Send& x) { add_collective(index, op, x.axis, CollectiveKind::send_recv, x.bytes); },
                [&](const Receive& x) {
                    add_collective(index, op, x.axis, CollectiveKind::send_recv, x.bytes);
                },
                [&](const Copy& x) { add_copy(index, op, x); },
                [&](const Record& x) {
                    push(index, op, TaskKind::record, runtime_.event).event = raw(x.event);
                },
                [&](const Wait& x) { push(index, op, TaskKind::wait, runtime_.event).event = raw(x.event); },
                [](const Allocate&) {}, [](const Release&) {},
                [&](const HostWork& x) { add_host_work(op.stream, x); }},
            op.payload);
    }

    static std::uint32_t raw(EventId event) { return static_cast<std::uint32_t>(event); }

    Task& push(std::uint32_t index, const Op& op, TaskKind kind, Seconds host_cost) {
        host_ += static_cast<Picoseconds>(picoseconds(host_cost));
        ++launches_;
        Task task;
        task.kind = kind;
        task.stream = static_cast<std::uint8_t>(op.stream);
        task.op = index;
        task.epoch = static_cast<std::uint32_t>(result_.barriers.size());
        task.issue = host_;
        return result_.streams[task.stream].emplace_back(task);
    }

    void add_kernel(std::uint32_t index, const Op& op, const Compute& compute) {
        const PricedKernel& kernel = kernels_[index_of(compute.kernel)];
        const StreamKind stream = program_.streams[index_of(op.stream)].kind;
        if (stream == StreamKind::host) {
            const Seconds time = host_kernel_time(program_.at(compute.kernel),
                                                  {std::min(profile_.host.memory_rate, runtime_.host_rate)});
            push(index, op, TaskKind::host_kernel, Seconds(0)).work = picoseconds(time);
            return;
        }
        const bool side = stream != StreamKind::compute;
        push(index, op, side ? TaskKind::side_kernel : kernel.kind, runtime_.kernel).work = kernel.work;
        if (side) return;
        if (kernel.kind == TaskKind::gemm) result_.gemm_work += kernel.work;
        if (kernel.kind == TaskKind::attention) result_.attention_work += kernel.work;
        if (kernel.kind == TaskKind::memory_bound || op.name.layer < 0) return;
        matrix_sum_ += kernel.work;  // of the layers: it is their kernels that collectives overlap
        matrix_squares_ += kernel.work * kernel.work;
    }

    void add_collective(std::uint32_t index, const Op& op, Axis axis, CollectiveKind kind, Bytes bytes) {
        const PricedCollective& priced = price_collective(axis, kind, bytes);
        Task& task = push(index, op, TaskKind::collective, runtime_.collective);
        task.work = priced.work;
        const WireContention& contention = priced.contention;
        task.share = contention.slowdown / (1 + contention.slowdown);
        task.delay = contention.start_delay;
        task.slowdown = contention.collective_slowdown;
        task.link = priced.link;
        task.axis = static_cast<std::uint8_t>(axis);
        task.turn = turns_[task.axis]++;
    }

    // A step has few distinct collectives: a linear search is faster than any map.
    const PricedCollective& price_collective(Axis axis, CollectiveKind kind, Bytes bytes) {
        for (const PricedCollective& known : collectives_)
            if (known.axis == axis && known.kind == kind && known.bytes == bytes) return known;
        const CollectivePrice price = wires_(axis, kind, bytes);
        return collectives_.emplace_back(PricedCollective{
            axis, kind, bytes, picoseconds(price.seconds),
            contention_of(profile_, price.transport, price.channels), link_of(price.transport)});
    }

    std::uint8_t link_of(std::string_view transport) {
        auto found = std::find(transports_.begin(), transports_.end(), transport);
        if (found == transports_.end()) found = transports_.insert(found, std::string(transport));
        const auto link = static_cast<std::size_t>(first_transport + (found - transports_.begin()));
        ensure(link < kLinks, "a step's collectives share few transports");
        return static_cast<std::uint8_t>(link);
    }

    void add_copy(std::uint32_t index, const Op& op, const Copy& copy) {
        const bool out = copy.to == MemorySpace::host, in = copy.from == MemorySpace::host;
        Task& task = push(index, op, TaskKind::copy, runtime_.copy);
        task.work = picoseconds(copy_time(copy, profile_.copy));
        task.link = out ? device_to_host : in ? host_to_device : device_to_device;
    }

    void add_host_work(StreamId stream, const HostWork& work) {
        const auto spend = [&](Seconds each) {
            host_ += static_cast<Picoseconds>(picoseconds(each * work.count));
        };
        switch (work.kind) {
            case HostWorkKind::hook:
                return spend(runtime_.hook);
            case HostWorkKind::optimizer_loop:
                return spend(runtime_.optimizer_loop);
            case HostWorkKind::launches:
                return spend(runtime_.kernel);
            case HostWorkKind::synchronize:
                result_.barriers.push_back(
                    {static_cast<std::uint8_t>(stream),
                     static_cast<std::uint32_t>(result_.streams[index_of(stream)].size()), host_});
                return spend(runtime_.synchronize);
        }
    }

    const StepProgram& program_;
    const CostProfile& profile_;
    const CollectiveCost& wires_;
    const RuntimeCosts& runtime_;
    std::vector<PricedKernel> kernels_;
    std::vector<PricedCollective> collectives_;
    std::vector<std::string> transports_;
    std::array<std::uint32_t, kAxisCount> turns_{};
    StepTasks result_;
    Picoseconds host_ = 0;
    std::size_t launches_ = 0;
    double matrix_sum_ = 0, matrix_squares_ = 0;
};

}  // namespace

StepTasks price(const StepProgram& program, const CostProfile& profile, const CollectiveCost& wires,
                const RuntimeCosts& runtime) {
    return Pricing(program, profile, wires, runtime).run();
}

}  // namespace wirewise
