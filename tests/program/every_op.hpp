// One sound program that holds every kind of op: each interpreter must take it.
#pragma once

#include <array>

#include "model/program/builder.hpp"

namespace wirewise::testing {

inline StepProgram every_op() {
    ProgramBuilder b(Phase::steady_step);
    const StreamId compute = b.stream("compute", StreamKind::compute);
    const StreamId wire = b.stream("wire", StreamKind::communication);
    const StreamId copies = b.stream("copies", StreamKind::copy);
    b.set_axis_size(Axis::shard, 2);
    b.set_axis_size(Axis::world, 2);
    const BufferId weight = b.persistent("weight", Bytes(1024), DType::bf16, Role::parameter, compute);
    const BufferId state = b.persistent("moments", Bytes(4096), DType::fp32, Role::optimizer, compute);
    const BufferId input = b.persistent("input", Bytes(1024), DType::bf16, Role::activation, compute);

    const BufferId gathered = b.transient("gathered", Bytes(2048), DType::bf16, Role::communication, wire);
    b.allocate(gathered);
    b.collective(wire, "gather", {CollectiveKind::all_gather, Axis::shard, DType::bf16, Bytes(2048)},
                 {b.read(weight), b.write(gathered)});
    b.join(compute, wire);
    const BufferId hidden = b.transient("hidden", Bytes(1024), DType::bf16, Role::activation, compute);
    b.compute(compute, "gemm", Gemm{GemmLayout::forward, 16, 32, 32},
              {b.read(input), b.read(gathered), b.write(hidden)});
    b.compute(compute, "attention", Attention{false, 1, 16, 1, 1, 32, 32}, {b.update(hidden)});
    b.compute(compute, "scale", Pointwise{.kind = PointwiseKind::scale, .rows = 16, .columns = 32},
              {b.update(hidden)});
    b.join(wire, compute);
    const BufferId arrived = b.transient("arrived", Bytes(1024), DType::bf16, Role::communication, wire);
    b.send(wire, "send", {Axis::world, 1, Bytes(1024)}, b.read(hidden));
    b.receive(wire, "receive", {Axis::world, -1, Bytes(1024)}, b.write(arrived));
    b.join(copies, wire);
    b.copy(copies, "offload", {MemorySpace::device, MemorySpace::host, Bytes(1024)}, {b.read(arrived)});
    b.host_work(copies, "synchronize", {HostWorkKind::synchronize, 1});
    const StreamId host = b.stream("host", StreamKind::host);
    const BufferId twin =
        b.on_host(Lifetime::persistent, "twin", Bytes(1024), DType::bf16, Role::gradient, host);
    b.copy(copies, "to the host", {MemorySpace::device, MemorySpace::host, Bytes(1024)},
           {b.read(arrived), b.write(twin)});
    b.join(host, copies);
    b.compute(host, "scale on the host", Pointwise{.kind = PointwiseKind::scale, .rows = 16, .columns = 32},
              {b.update(twin)});
    b.join(copies, host);
    b.copy(copies, "from the host", {MemorySpace::host, MemorySpace::device, Bytes(1024)},
           {b.read(twin), b.write(arrived)});
    b.join(compute, copies);
    b.in_section(Section::update);
    b.compute(compute, "adamw", OptimizerUpdate{.count = 512},
              {b.read(arrived), b.update(weight), b.update(state)});
    b.join(wire, compute);
    b.release(std::array{gathered, arrived});
    return std::move(b).finish();
}

}  // namespace wirewise::testing
