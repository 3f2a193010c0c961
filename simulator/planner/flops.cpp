#include "simulator/planner/flops.hpp"

#include <algorithm>

namespace wirewise {

namespace {

double flops_of(const Gemm& gemm) {
    return 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
}

double flops_of(const Attention& attention) {
    const double sequence = static_cast<double>(attention.sequence);
    const double reach = attention.window > 0 ? std::min(sequence, static_cast<double>(attention.window)) : sequence;
    const double pairs = sequence * reach - reach * reach / 2;  // causal, at most `reach` back
    const double width = static_cast<double>(attention.head_dim + attention.value_head_dim);
    return 2.0 * static_cast<double>(attention.batch * attention.heads) * width * pairs * (attention.backward ? 2 : 1);
}

template <class Other>
double flops_of(const Other&) {
    return 0;
}

}  // namespace

Flops executed_flops(const StepProgram& program) {
    double total = 0;
    for (const Op& op : program.ops)
        if (const auto* compute = std::get_if<Compute>(&op.payload))
            total += std::visit([](const auto& kernel) { return flops_of(kernel); }, program.at(compute->kernel));
    return Flops(total);
}

}  // namespace wirewise
