#include "tools/validate/explain.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/render/plan_json.hpp"
#include "tools/validate/compare.hpp"
#include "tools/validate/profiled_step.hpp"
#include "tools/validate/step_terms.hpp"
#include "tools/validate/validation_report.hpp"

namespace wirewise {

namespace {

std::optional<double> reading(const MeasuredCase& one, MeasuredQuantity quantity) {
    for (const Reading& each : one.readings)
        if (each.quantity == quantity) return each.value;
    return std::nullopt;
}

std::string difference(double predicted, std::optional<double> measured, double whole) {
    if (!measured) return "";
    return fmt::format("{:+.1f} %", 100 * (predicted - *measured) / whole);
}

// Rows of one quantity: predicted beside measured where that is known; differences as shares of the measured
// whole.
class Terms {
  public:
    Terms(const std::string& title, double whole, std::string (*text)(double)) : whole_(whole), text_(text) {
        table_ = {title, {"<term", "predicted", "measured", "of the whole"}, {}, -1};
    }
    void add(const std::string& term, double predicted, std::optional<double> measured = std::nullopt) {
        json_.push_back({{"term", term},
                         {"predicted", predicted},
                         {"measured", measured ? Json(*measured) : Json(nullptr)}});
        table_.rows.push_back({term, text_(predicted), measured ? text_(*measured) : "-",
                               difference(predicted, measured, whole_)});
    }
    const Table& table() const { return table_; }
    const Json& json() const { return json_; }

  private:
    double whole_;
    std::string (*text_)(double);
    Table table_;
    Json json_ = Json::array();
};

std::string seconds_text(double value) { return to_text(Seconds(value)); }
std::string bytes_text(double value) { return to_text(Bytes(static_cast<std::int64_t>(value))); }

void add_collectives(Terms& terms, const Estimate& estimate) {
    for (const CollectiveUse& use : estimate.collectives)
        terms.add(
            fmt::format("  {} x{}, {} on {}", name_of(use.kind), use.calls, to_text(use.bytes), use.link),
            use.seconds.value());
}

Terms time_terms(const MeasuredCase& one, const PredictedStep& predicted, const std::string& profiled) {
    const double measured = *reading(one, MeasuredQuantity::step_seconds);
    const PlanCandidate& candidate = predicted.candidate;
    std::optional<ProfiledStep> seen;
    if (!profiled.empty())
        seen = profiled_step(profiled, candidate, predicted.question.model, Seconds(measured));
    const auto of = [&](Seconds ProfiledStep::*part) {
        return seen ? std::optional((*seen.*part).value()) : std::nullopt;
    };
    const StepTerms parts = step_terms(predicted);
    Terms terms("step time", measured, seconds_text);
    terms.add("matrix products", parts.gemm.value(), of(&ProfiledStep::gemm));
    terms.add("attention", parts.attention.value(), of(&ProfiledStep::attention));
    terms.add("memory-bound kernels", parts.memory_bound.value(), of(&ProfiledStep::memory_bound));
    terms.add("optimizer", parts.optimizer.value(), of(&ProfiledStep::optimizer));
    terms.add("gaps between kernels", parts.gaps.value());
    terms.add("exposed collectives", parts.exposed.value());
    terms.add("kernels slowed beside collectives", parts.contention.value());
    terms.add("waiting for the host", parts.host.value());
    terms.add("step", candidate.estimate.time.step.value(), measured);
    terms.add("collectives, exposed or hidden", candidate.estimate.time.communication.value(),
              of(&ProfiledStep::collectives));
    add_collectives(terms, candidate.estimate);
    return terms;
}

Terms memory_terms(const MeasuredCase& one, const PredictedStep& predicted) {
    using enum MeasuredQuantity;
    const Estimate& estimate = predicted.candidate.estimate;
    const auto allocated = reading(one, peak_allocated_bytes), reserved = reading(one, peak_reserved_bytes),
               used = reading(one, device_used_bytes);
    Terms terms("memory at the peak", used ? *used : reserved ? *reserved : *allocated, bytes_text);
    const Json rows = memory_breakdown_json(estimate);
    for (const auto& [name, bytes] : rows.items())
        if (name != "fragmentation" && name != "runtime" && bytes.get<double>() > 0)
            terms.add(name, bytes.get<double>());
    const auto count = [](Bytes bytes) { return static_cast<double>(bytes.count()); };
    const auto less = [](std::optional<double> a, std::optional<double> b) {
        return a && b ? std::optional(*a - *b) : std::nullopt;
    };
    terms.add("peak allocated", count(estimate.peak.allocated), allocated);
    terms.add("reserved beyond it", rows.at("fragmentation").get<double>(), less(reserved, allocated));
    terms.add("peak reserved", count(estimate.reserved), reserved);
    terms.add("outside the allocator", rows.at("runtime").get<double>(), less(used, reserved));
    terms.add("device used", count(estimate.device_used()), used);
    for (const RacePeak& other : estimate.others)
        terms.add("allocated, if the race for DDP's bucket goes otherwise", count(other.allocated),
                  allocated);
    return terms;
}

bool has_memory(const MeasuredCase& one) {
    for (const Reading& each : one.readings)
        if (each.quantity <= MeasuredQuantity::device_used_bytes) return true;
    return false;
}

std::string folder_of(const MeasuredCase& one) {
    return std::filesystem::path(one.place.substr(0, one.place.rfind(':'))).parent_path().string();
}

void explain_step(Report& report, const MeasuredCase& one, const TrainingStepCase& step,
                  const std::string& profile, const std::string& profiled) {
    const PredictedStep predicted = predict_step(step, profile);
    report.document["plan"] = step.plan_options;
    report.document["profile"] = predicted.question.profile.name;
    report.before.push_back(fmt::format("{}, predicted with {}: {}", one.id, predicted.question.profile.name,
                                        predicted.candidate.bottleneck));
    if (reading(one, MeasuredQuantity::step_seconds)) {
        const Terms terms =
            time_terms(one, predicted, profiled.empty() ? profile_beside(folder_of(one)) : profiled);
        report.document["time"] = terms.json();
        report.tables.push_back(terms.table());
    }
    if (has_memory(one)) {
        const Terms terms = memory_terms(one, predicted);
        report.document["memory"] = terms.json();
        report.document["peak_at"] = predicted.candidate.estimate.peak.at;
        report.tables.push_back(terms.table());
        report.after.push_back("the predicted peak falls at " + predicted.candidate.estimate.peak.at);
    }
}

}  // namespace

Report explain(const MeasuredCase& one, const std::string& profile, const std::string& profiled) {
    if (!one.set_aside.empty())
        throw InputError("--explain " + one.id, "is left out: " + one.set_aside, "choose another case");
    const ComparedCase compared = compare(one, profile);
    if (!compared.refused.empty())
        throw InputError("--explain " + one.id, "is left out: " + compared.refused, "choose another case");
    Report report;
    report.document = {{"schema", "wirewise.explain/1"}, {"id", one.id}, {"cases", Json::array()}};
    for (const Comparison& each : compared.comparisons) report.document["cases"].push_back(case_json(each));
    report.records = "cases";
    if (const auto* step = std::get_if<TrainingStepCase>(&one.subject))
        explain_step(report, one, *step, profile, profiled);
    report.tables.push_back(comparison_table(compared.comparisons));
    return report;
}

}  // namespace wirewise
