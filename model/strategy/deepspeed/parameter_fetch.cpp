#include "model/strategy/deepspeed/parameter_fetch.hpp"

#include <algorithm>

#include "model/strategy/deepspeed/kernels.hpp"
#include "model/strategy/pytorch/whole_weights.hpp"

namespace wirewise {

using namespace deepspeed;

ParameterFetch::ParameterFetch(PytorchContext& context, const Zero3Layout& layout,
                               std::optional<StreamId> host)
    : context_(context),
      layout_(layout),
      trace_(context),
      gather_(context.build().stream("all-gather", StreamKind::communication)),
      host_(host),
      kept_whole_(context.weights.size()),
      states_(context.weights.size()) {
    ProgramBuilder& build = context.build();
    const Bytes bytes = bytes_of(layout.own_count(), type());
    own_parts_ = offloaded() ? build.on_host(Lifetime::persistent, "parameter partitions", bytes, type(),
                                             Role::parameter, *host)
                             : build.persistent("parameter partitions", bytes, type(), Role::parameter,
                                                context.compute);
    for (std::size_t i = 0; i < kept_whole_.size(); ++i) {
        const Weight& weight = context.weights.all()[i];
        if (!layout.all()[i].persists) continue;
        build.at_layer(weight.unit.layer);
        kept_whole_[i] = build.persistent(name_of(weight), bytes_of(weight.count(), type()), type(),
                                          Role::parameter, context.compute);
    }
    build.at_layer(-1);
}

std::vector<BufferId> ParameterFetch::persistent() const {
    std::vector<BufferId> buffers{own_parts_};
    for (const auto& whole : kept_whole_)
        if (whole) buffers.push_back(*whole);
    return buffers;
}

// On one rank the own part is the whole.
bool ParameterFetch::always_there(WeightId weight) const {
    return layout_.of(weight).persists || (layout_.ranks() == 1 && !offloaded());
}

void ParameterFetch::begin_step() {
    context_.build().join(gather_, context_.compute);
    if (host_) context_.build().join(gather_, *host_);
}

void ParameterFetch::begin_micro_batch() {
    current_ = kNone;
    cursor_ = queue_ = 0;
}

BufferId ParameterFetch::use(WeightId weight) {
    enter(trace_.module_of(weight));
    if (kept_whole_[index_of(weight)]) return *kept_whole_[index_of(weight)];
    if (always_there(weight)) return own_parts_;
    return *states_[index_of(weight)].whole;
}

void ParameterFetch::enter(std::size_t module) {
    if (module == current_) return;
    leave();
    const auto order = trace_.order();
    const auto found = std::find(order.begin() + static_cast<std::ptrdiff_t>(cursor_), order.end(), module);
    if (found != order.end()) cursor_ = static_cast<std::size_t>(found - order.begin());
    current_ = module;
    context_.hook("fetch parameters");
    fetch(trace_.weights_of(module));
    for (const WeightId weight : trace_.weights_of(module))
        if (const auto handle = states_[index_of(weight)].handle) wait(handles_[*handle]);
    if (trace_complete() && !one_by_one()) prefetch();
}

void ParameterFetch::leave() {
    if (current_ == kNone) return;
    context_.hook("release parameters");
    if (!used_again_soon(current_))
        for (const WeightId weight : trace_.weights_of(current_)) release(weight);
    current_ = kNone;
}

bool ParameterFetch::used_again_soon(std::size_t module) const {
    if (!trace_complete()) return false;
    std::int64_t passed = 0;
    for (const std::size_t next : trace_.order().subspan(cursor_ + 1)) {
        if (passed >= context_.plan().deepspeed.max_reuse_distance) return false;
        if (next == module) return true;
        for (const WeightId weight : trace_.weights_of(next)) passed += layout_.of(weight).count;
    }
    return false;
}

void ParameterFetch::release(WeightId weight) {
    State& state = states_[index_of(weight)];
    if (!state.whole) return;
    context_.tape.storages.settle();
    context_.build().join(gather_, context_.compute);  // whose memory it was follows its last use
    context_.build().release(*state.whole);
    live_ -= layout_.of(weight).count;
    state.whole.reset();
}

void ParameterFetch::fetch(const std::vector<WeightId>& weights) {
    Handle handle;
    for (const WeightId weight : weights) {
        const State& state = states_[index_of(weight)];
        if (!always_there(weight) && !state.whole && !state.handle) handle.weights.push_back(weight);
    }
    if (handle.weights.empty()) return;
    if (one_by_one())
        for (const WeightId weight : handle.weights) start({{weight}});
    else
        start(std::move(handle));
}

void ParameterFetch::start(Handle handle) {
    gather(handle);
    for (const WeightId weight : handle.weights) states_[index_of(weight)].handle = handles_.size();
    handles_.push_back(std::move(handle));
}

void ParameterFetch::prefetch() {
    const auto order = trace_.order();
    const DeepSpeedSettings& settings = context_.plan().deepspeed;
    const std::int64_t most = std::min(settings.max_live_parameters - live_, settings.prefetch_bucket_size);
    std::vector<WeightId> weights;
    std::int64_t count = 0;
    queue_ = std::max(queue_, cursor_ + 1);
    for (; queue_ < order.size() && count < most; ++queue_)
        for (const WeightId weight : trace_.weights_of(order[queue_])) {
            const State& state = states_[index_of(weight)];
            if (always_there(weight) || state.whole || state.handle) continue;
            if (std::find(weights.begin(), weights.end(), weight) != weights.end()) continue;
            weights.push_back(weight);
            count += layout_.of(weight).count;
        }
    fetch(weights);
}

// What this rank sends of a weight: its part, brought from the host where it lies there.
Operand ParameterFetch::sent(const Handle&, WeightId weight) {
    ProgramBuilder& build = context_.build();
    const Zero3Weight& place = layout_.of(weight);
    const Operand own = part(own_parts_, Access::read, place.offset, place.own_count, type());
    if (!offloaded()) return own;
    const BufferId on_gpu =
        build.transient("partition on the GPU", own.bytes, type(), Role::communication, gather_);
    build.copy(gather_, "partition to the GPU", {MemorySpace::host, MemorySpace::device, own.bytes},
               {own, build.write(on_gpu)});
    return build.read(on_gpu);
}

void ParameterFetch::gather(Handle& handle) {
    context_.tape.storages.settle();
    for (const WeightId weight : handle.weights) live_ += layout_.of(weight).count;
    handle.waiting = true;
    if (one_by_one() && layout_.ranks() > 1)
        gather_in_pieces(handle);
    else
        gather_together(handle);
}

void ParameterFetch::gather_together(Handle& handle) {
    ProgramBuilder& build = context_.build();
    std::vector<Operand> operands;
    std::int64_t own = 0;
    for (const WeightId weight : handle.weights) {
        operands.push_back(sent(handle, weight));
        own += layout_.of(weight).own_count;
    }
    const Bytes bytes = bytes_of(own * layout_.ranks(), type());
    const bool together = handle.weights.size() > 1;
    handle.output = build.transient(together ? "gathered together" : "gathered weight", bytes, type(),
                                    Role::communication, gather_);
    if (!overlaps()) build.join(gather_, context_.compute);
    const bool in_place = together || layout_.ranks() == 1;
    if (in_place) {
        operands.push_back({handle.output, Access::write, layout_.ranks() > 1, Bytes(0), bytes});
        flat_op(context_, gather_, "copy own parts in", own, bytes_of(2 * own, type()), operands);
    }
    if (layout_.ranks() == 1) return;
    build.collective(gather_, "all-gather parameters",
                     {CollectiveKind::all_gather, Axis::shard, type(), bytes, false},
                     in_place ? std::vector{build.update(handle.output)}
                              : std::vector{operands.front(), build.write(handle.output)});
}

void ParameterFetch::gather_in_pieces(Handle& handle) {
    ProgramBuilder& build = context_.build();
    const WeightId weight = handle.weights.front();
    const std::int64_t count = layout_.of(weight).own_count * layout_.ranks();
    const Bytes bytes = bytes_of(count, type());
    handle.output = build.transient("gathered weight", bytes, type(), Role::communication, context_.compute);
    const BufferId flat = build.transient("gathered pieces", bytes, type(), Role::communication, gather_);
    flat_op(context_, context_.compute, "zeros", count, bytes, {build.write(handle.output)});
    build.join(context_.compute, gather_);  // the host waits for the whole device
    build.host_work(context_.compute, "gather", {HostWorkKind::synchronize, 1});
    build.host_work(context_.compute, "slices", {HostWorkKind::launches, layout_.ranks()});
    build.join(gather_, context_.compute);
    build.collective(gather_, "all-gather parameters",
                     {CollectiveKind::all_gather, Axis::shard, type(), bytes, false},
                     {sent(handle, weight), build.write(flat)});
    build.host_work(context_.compute, "copies", {HostWorkKind::launches, layout_.ranks()});
    flat_op(context_, gather_, "copy out of pieces", count, bytes * 2,
            {build.read(flat), build.write(handle.output)});
    build.release(flat);
}

// What was gathered together is copied out, weight by weight.
void ParameterFetch::wait(Handle& handle) {
    if (!handle.waiting) return;
    handle.waiting = false;
    ProgramBuilder& build = context_.build();
    context_.tape.storages.settle();
    const bool together = handle.weights.size() > 1;
    std::vector<Operand> operands{build.read(handle.output)};
    std::int64_t count = 0;
    for (const WeightId weight : handle.weights) {
        State& state = states_[index_of(weight)];
        state.handle.reset();
        const std::int64_t padded = layout_.of(weight).own_count * layout_.ranks();
        state.whole = together ? build.transient("gathered weight", bytes_of(padded, type()), type(),
                                                 Role::communication, gather_)
                               : handle.output;
        operands.push_back(build.write(*state.whole));
        count += padded;
    }
    if (together) {
        flat_op(context_, gather_, "copy out", count, bytes_of(2 * count, type()), operands);
        build.release(handle.output);
    }
    build.join(context_.compute, gather_);
}

void ParameterFetch::done(Unit unit) {
    leave();
    for (const WeightId weight : context_.weights.of(unit)) release(weight);
}

void ParameterFetch::end_micro_batch() {
    leave();
    for (Handle& handle : handles_) wait(handle);
    handles_.clear();
    for (std::size_t i = 0; i < states_.size(); ++i) release(static_cast<WeightId>(i));
    live_ = 0;
}

void ParameterFetch::refresh_persistent() {
    ProgramBuilder& build = context_.build();
    begin_step();
    std::vector<Operand> parts, wholes;
    std::int64_t own = 0;
    for (std::size_t i = 0; i < kept_whole_.size(); ++i) {
        if (!kept_whole_[i]) continue;
        parts.push_back(sent({}, static_cast<WeightId>(i)));
        wholes.push_back(build.write(*kept_whole_[i]));
        own += layout_.all()[i].own_count;
    }
    if (parts.empty()) return;
    const Bytes bytes = bytes_of(own * layout_.ranks(), type());
    const BufferId output =
        build.transient("gathered persisting parameters", bytes, type(), Role::communication, gather_);
    parts.push_back({output, Access::write, layout_.ranks() > 1, Bytes(0), bytes});
    flat_op(context_, gather_, "copy own parts in", own, bytes_of(2 * own, type()), parts);
    if (layout_.ranks() > 1)
        build.collective(gather_, "all-gather persisting parameters",
                         {CollectiveKind::all_gather, Axis::shard, type(), bytes, false},
                         {build.update(output)});
    wholes.push_back(build.read(output));
    flat_op(context_, gather_, "copy out", own * layout_.ranks(), bytes * 2, wholes);
    build.join(context_.compute, gather_);
}

}  // namespace wirewise
