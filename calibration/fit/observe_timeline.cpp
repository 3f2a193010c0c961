#include <fmt/format.h>

#include <map>

#include "calibration/fit/observe.hpp"

namespace wirewise {

namespace {

// Ops that do the same work: one kernel, or one collective of one size.
struct Class {
    std::string text, kind;
    std::vector<std::size_t> ops;
};

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

std::vector<Class> classes_of(const StepProgram& program) {
    std::map<std::string, Class> classes;
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const Op& op = program.ops[i];
        std::string text, kind;
        if (const auto* compute = std::get_if<Compute>(&op.payload)) {
            text = to_text(program.at(compute->kernel));
            kind = first_word(text);
        } else if (std::holds_alternative<Collective>(op.payload)) {
            text = what_of(program, op);
            kind = "collective";
        } else {
            continue;
        }
        Class& one = classes[text];
        one.text = text, one.kind = kind;
        one.ops.push_back(i);
    }
    std::vector<Class> result;
    for (auto& [text, one] : classes) result.push_back(std::move(one));
    return result;
}

// Seconds of each op, by its id.
std::vector<double> durations(const StepProgram& program, const Timeline& timeline) {
    std::vector<double> seconds(program.ops.size(), 0.0);
    for (const Span& span : timeline.spans)
        seconds.at(index_of(span.op)) += to_seconds(span.end - span.begin).value();
    return seconds;
}

double sum_over(const std::vector<std::size_t>& ops, const std::vector<double>& seconds) {
    double sum = 0;
    for (const std::size_t op : ops) sum += seconds[op];
    return sum;
}

std::string ids_of(const std::vector<std::size_t>& ops) {
    constexpr std::size_t kShown = 3;
    std::string ids;
    for (std::size_t i = 0; i < std::min(ops.size(), kShown); ++i)
        ids += fmt::format("{}{}", i > 0 ? ", " : "", ops[i]);
    return ops.size() > kShown ? fmt::format("{}, ... ({} ops)", ids, ops.size()) : ids;
}

}  // namespace

std::vector<Observation> observe_timelines(const TimelinesToObserve& run) {
    const auto shared = std::make_shared<const TimelinesToObserve>(run);
    std::vector<std::vector<double>> measured;
    for (const Timeline& timeline : run.measured) measured.push_back(durations(run.program, timeline));
    const auto simulated = [shared](const CostProfile& profile) {
        return simulate(shared->program, profile, shared->wires(profile), profile.runtime(shared->runtime));
    };
    std::vector<Observation> observations;
    for (const Class& one : classes_of(run.program)) {
        double seconds = 0;
        for (const std::vector<double>& rank : measured) seconds += sum_over(one.ops, rank);
        seconds /= static_cast<double>(measured.size());
        if (seconds < run.shortest.value()) continue;
        observations.push_back({fmt::format("op {}: {}", ids_of(one.ops), one.text),
                                one.kind,
                                seconds,
                                [shared, simulated, ops = one.ops](const CostProfile& profile) {
                                    return sum_over(ops, durations(shared->program, simulated(profile)));
                                },
                                {one.text},
                                ""});
    }
    return observations;
}

}  // namespace wirewise
