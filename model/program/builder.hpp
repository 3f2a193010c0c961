// Writes a StepProgram op by op. Keeps the context (layer, micro-batch, section) that names ops and buffers,
// and gives equal kernels one id, so that each distinct kernel is priced once.
#pragma once

#include <initializer_list>
#include <unordered_map>
#include <unordered_set>

#include "model/program/program.hpp"

namespace wirewise {

class ProgramBuilder {
  public:
    explicit ProgramBuilder(Phase phase, FreeRule rule = FreeRule::after_join);

    StreamId stream(std::string_view name, StreamKind kind);
    void set_axis_size(Axis axis, int ranks) { program_.axis_sizes[static_cast<std::size_t>(axis)] = ranks; }

    // Context of what follows.
    void at_layer(std::int32_t layer) { layer_ = layer; }
    void at_micro_batch(int index) { micro_batch_ = static_cast<std::uint16_t>(index); }
    void in_section(Section section) { section_ = section; }

    // `name` must be a literal or come from intern(). Zero bytes are allowed; negative bytes break an
    // invariant. Programs of one plan must declare their persistent buffers first and in the same order: ids
    // must agree.
    BufferId transient(std::string_view name, Bytes bytes, DType dtype, Role role, StreamId home);
    BufferId persistent(std::string_view name, Bytes bytes, DType dtype, Role role, StreamId home);
    // Marks it as followed by the allocator: see Buffer.
    void follow(BufferId id) { program_.buffers[index_of(id)].followed = true; }
    // In host memory.
    BufferId on_host(Lifetime lifetime, std::string_view name, Bytes bytes, DType dtype, Role role,
                     StreamId home);
    std::string_view intern(std::string text);

    // Whole-buffer operands, or the part [offset, offset + bytes).
    Operand read(BufferId id) const { return whole(id, Access::read); }
    Operand write(BufferId id) const { return whole(id, Access::write); }
    Operand update(BufferId id) const { return whole(id, Access::update); }
    static Operand read(BufferId id, Bytes offset, Bytes bytes) {
        return {id, Access::read, false, offset, bytes};
    }
    static Operand write(BufferId id, Bytes offset, Bytes bytes) {
        return {id, Access::write, false, offset, bytes};
    }
    static Operand update(BufferId id, Bytes offset, Bytes bytes) {
        return {id, Access::update, false, offset, bytes};
    }
    // The rank's own equal share of the operand's range.
    static Operand own_share(Operand operand) {
        operand.own_share = true;
        return operand;
    }

    using Operands = std::span<const Operand>;
    using OperandList = std::initializer_list<Operand>;
    OpId compute(StreamId stream, std::string_view name, const Kernel& kernel, Operands operands);
    OpId compute(StreamId stream, std::string_view name, const Kernel& kernel, OperandList operands) {
        return compute(stream, name, kernel, span_of(operands));
    }
    OpId collective(StreamId stream, std::string_view name, const Collective& call, Operands operands);
    OpId collective(StreamId stream, std::string_view name, const Collective& call, OperandList operands) {
        return collective(stream, name, call, span_of(operands));
    }
    OpId send(StreamId stream, std::string_view name, const Send& send, const Operand& read);
    OpId receive(StreamId stream, std::string_view name, const Receive& receive, const Operand& write);
    OpId copy(StreamId stream, std::string_view name, const Copy& copy, Operands operands);
    OpId copy(StreamId stream, std::string_view name, const Copy& call, OperandList operands) {
        return copy(stream, name, call, span_of(operands));
    }
    OpId host_work(StreamId stream, std::string_view name, const HostWork& work);
    void allocate(std::span<const BufferId> buffers);
    void allocate(BufferId buffer) { allocate(std::span(&buffer, 1)); }
    void release(std::span<const BufferId> buffers);
    void release(BufferId buffer) { release(std::span(&buffer, 1)); }

    EventId record(StreamId stream);
    void wait(StreamId stream, EventId event);
    // `later` waits for all that `earlier` has been given so far.
    void join(StreamId later, StreamId earlier) { wait(later, record(earlier)); }

    const Buffer& at(BufferId id) const { return program_.at(id); }
    std::uint32_t buffer_count() const { return static_cast<std::uint32_t>(program_.buffers.size()); }
    std::size_t op_count() const { return program_.ops.size(); }

    StepProgram finish() &&;

  private:
    static Operands span_of(OperandList operands) { return {operands.begin(), operands.size()}; }
    Operand whole(BufferId id, Access access) const {
        return {id, access, false, Bytes(0), program_.at(id).bytes};
    }
    BufferId add_buffer(const Buffer& buffer);
    OpId add_op(const Payload& payload, std::string_view name, StreamId stream, Operands operands);
    void add_mention(const Payload& payload, std::string_view name, std::span<const BufferId> buffers);
    KernelId kernel_id(const Kernel& kernel);

    struct KernelHash {
        std::size_t operator()(const Kernel& kernel) const { return hash_of(kernel); }
    };
    using Texts = std::unordered_set<std::string>;  // node-based: views into it stay valid

    StepProgram program_;
    std::unordered_map<Kernel, KernelId, KernelHash> kernel_ids_;
    std::shared_ptr<Texts> texts_;
    std::int32_t layer_ = -1;
    std::uint16_t micro_batch_ = 0;
    Section section_ = Section::forward;
};

}  // namespace wirewise
