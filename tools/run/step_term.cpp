#include "tools/run/step_term.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wirewise {

namespace {

struct KernelName {
    std::string operator()(const Gemm& gemm) const {
        switch (gemm.layout) {
            case GemmLayout::forward:
                return "matrix products, forward";
            case GemmLayout::data_gradient:
                return "matrix products, data gradients";
            case GemmLayout::weight_gradient:
                break;
        }
        return "matrix products, weight gradients";
    }
    std::string operator()(const Attention& attention) const {
        return attention.backward ? "attention, backward" : "attention, forward";
    }
    std::string operator()(const Pointwise&) const { return "memory-bound kernels"; }
    std::string operator()(const OptimizerUpdate&) const { return "optimizer update"; }
};

// Empty: it takes no time on the device.
std::string term_of(const StepProgram& program, const Op& op) {
    if (const auto* compute = std::get_if<Compute>(&op.payload))
        return std::visit(KernelName(), program.at(compute->kernel));
    if (const auto* call = std::get_if<Collective>(&op.payload))
        return fmt::format("{}, {}", name_of(call->kind), name_of(call->axis));
    if (std::holds_alternative<Copy>(op.payload)) return "copies";
    return {};
}

void add(std::vector<StepTerm>& terms, const StepProgram& program, const Timeline& timeline,
         Seconds StepTerm::*which, bool count) {
    for (const Span& span : timeline.spans) {
        const std::string name = term_of(program, program.ops[index_of(span.op)]);
        if (name.empty()) continue;
        auto term =
            std::find_if(terms.begin(), terms.end(), [&](const auto& one) { return one.name == name; });
        if (term == terms.end()) term = terms.insert(terms.end(), {.name = name});
        (*term).*which += to_seconds(span.end - span.begin);
        term->calls += count;
    }
}

}  // namespace

std::vector<StepTerm> step_terms(const StepProgram& program, const Timeline& measured,
                                 const StepProgram& predicted_program, const Timeline& predicted) {
    std::vector<StepTerm> terms;
    add(terms, program, measured, &StepTerm::measured, true);
    add(terms, predicted_program, predicted, &StepTerm::predicted, false);
    return terms;
}

}  // namespace wirewise
