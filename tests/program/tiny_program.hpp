// Small programs for the tests of this folder.
#pragma once

#include "model/program/builder.hpp"

namespace wirewise::testing {

// One linear layer whose gradient is reduced on a second stream while the update waits for it.
inline StepProgram tiny_step() {
    ProgramBuilder build(Phase::steady_step);
    const StreamId compute = build.stream("compute", StreamKind::compute);
    const StreamId wire = build.stream("wire", StreamKind::communication);
    const BufferId weight = build.persistent("weight", Bytes(4096), DType::bf16, Role::parameter, compute);
    const BufferId gradient = build.persistent("gradient", Bytes(4096), DType::bf16, Role::gradient, compute);
    const BufferId moments = build.persistent("moments", Bytes(16384), DType::fp32, Role::optimizer, compute);
    const BufferId input = build.persistent("input", Bytes(1024), DType::bf16, Role::activation, compute);

    build.at_layer(0);
    const BufferId output = build.transient("output", Bytes(2048), DType::bf16, Role::activation, compute);
    build.compute(compute, "linear", Gemm{GemmLayout::forward, 16, 64, 32},
                  {build.read(input), build.read(weight), build.write(output)});
    build.in_section(Section::backward);
    build.compute(compute, "linear weight gradient", Gemm{GemmLayout::weight_gradient, 64, 32, 16},
                  {build.read(output), build.read(input), build.write(gradient)});
    build.join(wire, compute);
    build.collective(wire, "reduce",
                     {CollectiveKind::all_reduce, Axis::world, DType::bf16, Bytes(4096), true},
                     {build.update(gradient)});
    build.in_section(Section::update);
    build.join(compute, wire);
    build.compute(compute, "adamw", OptimizerUpdate{.count = 2048, .traffic = Bytes(53248)},
                  {build.read(gradient), build.update(weight), build.update(moments)});
    return std::move(build).finish();
}

}  // namespace wirewise::testing
