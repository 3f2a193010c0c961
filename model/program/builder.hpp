// Writes a StepProgram op by op. Keeps the context (layer, micro-batch, section) that names ops and buffers, and gives
// equal kernels one id, so that each distinct kernel is priced once.
#pragma once

#include <deque>
#include <initializer_list>
#include <unordered_map>

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

    // `name` must be a literal or come from intern(). Zero bytes are allowed; negative bytes break an invariant.
    BufferId transient(std::string_view name, Bytes bytes, DType dtype, Role role, StreamId home);
    BufferId persistent(std::string_view name, Bytes bytes, DType dtype, Role role, StreamId home);
    std::string_view intern(std::string text);

    // Whole-buffer operands, or the part [offset, offset + bytes).
    Operand read(BufferId id) const { return whole(id, Access::read); }
    Operand write(BufferId id) const { return whole(id, Access::write); }
    Operand update(BufferId id) const { return whole(id, Access::update); }

    OpId compute(StreamId stream, std::string_view name, const Kernel& kernel,
                 std::initializer_list<Operand> operands);
    OpId compute(StreamId stream, std::string_view name, const Kernel& kernel, std::span<const Operand> operands);
    OpId collective(StreamId stream, std::string_view name, const Collective& call,
                    std::initializer_list<Operand> operands);
    OpId collective(StreamId stream, std::string_view name, const Collective& call, std::span<const Operand> operands);
    OpId copy(StreamId stream, std::string_view name, const Copy& copy, std::span<const Operand> operands);
    OpId host_work(StreamId stream, std::string_view name, const HostWork& work);
    void allocate(std::span<const BufferId> buffers);
    void release(std::span<const BufferId> buffers);
    void release(BufferId buffer) { release(std::span(&buffer, 1)); }

    EventId record(StreamId stream);
    void wait(StreamId stream, EventId event);
    // `later` waits for all that `earlier` has been given so far.
    void join(StreamId later, StreamId earlier) { wait(later, record(earlier)); }

    const Buffer& at(BufferId id) const { return program_.at(id); }
    std::size_t op_count() const { return program_.ops.size(); }

    StepProgram finish() &&;

  private:
    Operand whole(BufferId id, Access access) const { return {id, access, false, Bytes(0), program_.at(id).bytes}; }
    BufferId add_buffer(Buffer buffer);
    OpId add_op(Payload payload, std::string_view name, StreamId stream, std::span<const Operand> operands);
    KernelId kernel_id(const Kernel& kernel);

    struct KernelHash {
        std::size_t operator()(const Kernel& kernel) const;
    };

    StepProgram program_;
    std::unordered_map<Kernel, KernelId, KernelHash> kernel_ids_;
    std::shared_ptr<std::deque<std::string>> texts_;
    std::int32_t layer_ = -1;
    std::uint16_t micro_batch_ = 0;
    Section section_ = Section::forward;
};

}  // namespace wirewise
