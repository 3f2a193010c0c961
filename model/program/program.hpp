// StepProgram: the ops of one training step of one rank, in host issue order. Its meaning is CUDA's own: list
// order is issue order, a stream is a FIFO, a wait is an event. It holds ids only; pointers, streams and
// communicators are bound later. Built by ProgramBuilder, judged by verify(), walked for memory, simulated
// for time, executed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/program/kernel.hpp"
#include "model/units/collective.hpp"
#include "model/units/dtype.hpp"
#include "model/units/quantity.hpp"

namespace wirewise {

enum class BufferId : std::uint32_t {};
enum class OpId : std::uint32_t {};
enum class EventId : std::uint32_t {};
enum class StreamId : std::uint8_t {};
enum class KernelId : std::uint32_t {};  // into StepProgram::kernels; equal kernels share one id

template <class Id>
constexpr std::size_t index_of(Id id) {
    return static_cast<std::size_t>(id);
}

// Which step of a plan's life a program is. Persistent buffers keep their ids through all phases of one plan.
enum class Phase : std::uint8_t { load, first_step, second_step, steady_step, evaluation, save };
std::string_view name_of(Phase phase);
constexpr bool is_training_step(Phase phase) {
    return phase == Phase::first_step || phase == Phase::second_step || phase == Phase::steady_step;
}

// "layer 3 / gate_up": `text` is a literal, or text interned by the builder and owned by the program.
struct Name {
    std::string_view text;
    std::int32_t layer = -1;  // -1: not in a layer
};

enum class Role : std::uint8_t {
    parameter,
    master_parameter,
    gradient,
    optimizer,
    activation,
    logits,
    communication,  // gathered parameters, buckets, reduce-scatter inputs
    workspace,
};
constexpr std::size_t kRoleCount = 8;
std::string_view name_of(Role role);

enum class Lifetime : std::uint8_t {
    transient,   // allocated at its first use, freed after its last (and, for our runtime, once that use is
                 // joined)
    persistent,  // allocated at its first use in the run, lives through later programs until a Release names
                 // it
};

enum class MemorySpace : std::uint8_t { device, host };
std::string_view name_of(MemorySpace space);

struct Buffer {
    Name name;
    Bytes bytes{};
    DType dtype = DType::bf16;
    Role role = Role::activation;
    Lifetime lifetime = Lifetime::transient;
    StreamId home{};  // the stream whose memory pool holds it
    MemorySpace space = MemorySpace::device;
    // PyTorch's record_stream(): the allocator itself follows the uses on other streams. Let go of, the
    // buffer counts no longer, but its memory is reused only once the host knows that they have ended.
    bool followed = false;
};

// host: a FIFO of kernels that the CPU computes, on buffers in host memory.
enum class StreamKind : std::uint8_t { compute, communication, copy, host };
std::string_view name_of(StreamKind kind);

struct Stream {
    std::string_view name;
    StreamKind kind = StreamKind::compute;
};

enum class Access : std::uint8_t { read, write, update };  // update: reads and writes

// The mesh axis whose groups run a collective (see ParallelPlan's mesh).
enum class Axis : std::uint8_t { replicate, shard, world };
constexpr std::size_t kAxisCount = 3;
std::string_view name_of(Axis axis);

// A use of part of a buffer: bytes [offset, offset + bytes). With `own_share`, the rank's own equal share of
// that range along the shard axis: rank r of n uses [offset + r * bytes / n, offset + (r + 1) * bytes / n).
// One program thus serves all ranks; verify() takes the whole range.
struct Operand {
    BufferId buffer{};
    Access access = Access::read;
    bool own_share = false;
    Bytes offset{};
    Bytes bytes{};
};

struct Compute {
    KernelId kernel{};
};
// `bytes` is the full buffer S of nccl-tests (all-gather, reduce-scatter: the total over ranks of the group).
// Operands: reads the send part, writes the receive part (in place: one `update`).
struct Collective {
    CollectiveKind kind = CollectiveKind::all_reduce;
    Axis axis = Axis::world;
    DType dtype = DType::bf16;
    Bytes bytes{};
    bool average = false;  // sum, then divide by the group's size
};
struct Send {
    Axis axis = Axis::world;
    std::int32_t peer_offset = 1;  // rank distance along the axis, cyclic
    Bytes bytes{};
};
struct Receive {
    Axis axis = Axis::world;
    std::int32_t peer_offset = -1;
    Bytes bytes{};
};
// A transfer by a copy engine. Reads its first operand, writes its second. A host side is a buffer in host
// memory, or, where what lies there is not the plan's (the batch, a file), no operand.
struct Copy {
    MemorySpace from = MemorySpace::device, to = MemorySpace::device;
    Bytes bytes{};
};
struct Record {
    EventId event{};
};
struct Wait {
    EventId event{};
};
// The runtime allocates its operands here, although they are first used later.
struct Allocate {};
// The runtime lets go of its operands here, although they were last used earlier. Ends a persistent buffer.
struct Release {};
// Work of the host alone that delays what it issues next. synchronize: the host waits until the op's stream
// has run dry.
// launches: what that many kernels cost to issue, where one op stands for them all.
enum class HostWorkKind : std::uint8_t { hook, optimizer_loop, synchronize, launches };
std::string_view name_of(HostWorkKind kind);
struct HostWork {
    HostWorkKind kind = HostWorkKind::hook;
    std::int32_t count = 1;
};

using Payload =
    std::variant<Compute, Collective, Send, Receive, Copy, Record, Wait, Allocate, Release, HostWork>;

enum class Section : std::uint8_t { forward, backward, update };
std::string_view name_of(Section section);

struct Op {
    Payload payload;
    Name name;
    StreamId stream{};
    Section section = Section::forward;
    std::uint16_t micro_batch = 0;
    std::uint32_t first_operand = 0;
    std::uint32_t operand_count = 0;
};

// When a transient buffer may be reused.
enum class FreeRule : std::uint8_t {
    after_join,   // once its home stream has waited for its last use on any other stream (our runtime)
    at_last_use,  // as soon as the host drops the last reference (PyTorch: the caching allocator's rule)
};

// A program starts on an idle device and ends with an idle one: what ran before it is done.
struct StepProgram {
    Phase phase = Phase::steady_step;
    FreeRule free_rule = FreeRule::after_join;
    std::vector<Stream> streams;
    std::vector<Buffer> buffers;
    std::vector<Kernel> kernels;
    std::vector<Op> ops;
    std::vector<Operand> operands;
    std::uint32_t event_count = 0;
    std::array<int, kAxisCount> axis_sizes{1, 1, 1};  // ranks along each Axis
    std::shared_ptr<const void> texts;                // keeps interned names alive

    std::span<const Operand> operands_of(const Op& op) const {
        return std::span(operands).subspan(op.first_operand, op.operand_count);
    }
    const Buffer& at(BufferId id) const { return buffers[index_of(id)]; }
    const Kernel& at(KernelId id) const { return kernels[index_of(id)]; }
};

std::string to_text(const Name& name);
// One line per op: id, stream, what, operands; the golden form of the tests.
std::string to_text(const StepProgram& program);

// What the op does, without its operands: "all_reduce world bf16 4096 B average".
std::string what_of(const StepProgram& program, const Op& op);
// The op's place in the step, for people: "backward, micro-batch 0, layer 31, down data gradient".
std::string place_of(const Op& op);

// Equal for programs that do the same under the same names, on every machine and in every run: for plan
// files.
std::uint64_t hash_of(const StepProgram& program);

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
// Visiting without a default: a missing handler does not compile.
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace wirewise
