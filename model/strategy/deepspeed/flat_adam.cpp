#include "model/strategy/deepspeed/flat_adam.hpp"

#include "model/strategy/moments.hpp"
#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

FlatAdam::FlatAdam(PytorchContext& context, std::optional<StreamId> host, std::vector<std::int64_t> counts)
    : context_(context),
      host_(host),
      state_type_(moment_type(context.plan().optimizer, context.plan().precision.optimizer_state)) {
    const OptimizerKind kind = context.plan().optimizer;
    for (const std::int64_t count : counts) {
        Group group;
        group.count = count;
        const DType master = context.plan().precision.master;
        const Bytes bytes = bytes_of(count, master), moment = moment_bytes(count, kind, state_type_);
        group.master = declare("fp32 partition", bytes, master, Role::master_parameter);
        if (moment_count(kind) > 0) {
            group.first = declare("exp_avg", moment, state_type_, Role::optimizer);
            group.second = declare("exp_avg_sq", moment, state_type_, Role::optimizer);
        }
        if (offloaded()) group.gradient = declare("fp32 gradient partition", bytes, master, Role::gradient);
        groups_.push_back(group);
    }
}

BufferId FlatAdam::declare(std::string_view name, Bytes bytes, DType type, Role role) {
    ProgramBuilder& build = context_.build();
    return offloaded() ? build.on_host(Lifetime::persistent, name, bytes, type, role, *host_)
                       : build.persistent(name, bytes, type, role, context_.compute);
}

std::vector<BufferId> FlatAdam::at_load() const {
    std::vector<BufferId> buffers;
    for (const Group& group : groups_) {
        buffers.push_back(group.master);
        if (offloaded()) buffers.push_back(group.gradient);
    }
    return buffers;
}

std::vector<BufferId> FlatAdam::moments(std::size_t group) const {
    if (moment_count(context_.plan().optimizer) == 0) return {};
    return {groups_[group].first, groups_[group].second};
}

void FlatAdam::create_states(const Group& group) {
    for (const BufferId moment : {group.first, group.second}) {
        const Bytes bytes = context_.build().at(moment).bytes;
        context_.build().compute(stream(), "zeros", vector_kernel(1, bytes.count(), bytes, DType::int8),
                                 {context_.build().write(moment)});
    }
}

void FlatAdam::update(std::size_t index, BufferId gradient) {
    const Group& group = groups_[index];
    ProgramBuilder& build = context_.build();
    const int moments = moment_count(context_.plan().optimizer);
    if (moments > 0 && context_.phase() == Phase::first_step) create_states(group);
    OptimizerUpdate update;
    update.kind = context_.plan().optimizer;
    update.count = group.count;
    update.parameter = update.gradient = context_.plan().precision.master;
    update.state = state_type_;
    update.traffic = bytes_of(3 * group.count, update.parameter) +
                     moment_bytes(group.count, update.kind, state_type_) * 2 * moments;
    std::vector<Operand> operands{build.read(gradient), build.update(group.master)};
    if (moments > 0) operands.insert(operands.end(), {build.update(group.first), build.update(group.second)});
    build.compute(stream(), offloaded() ? "CPU Adam" : "FusedAdam", update, operands);
}

}  // namespace wirewise
