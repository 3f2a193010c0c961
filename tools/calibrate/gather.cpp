#include "tools/calibrate/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibration/fit/observe.hpp"
#include "model/topology/import.hpp"
#include "simulator/planner/candidate.hpp"
#include "simulator/planner/walk_phases.hpp"
#include "tools/inputs/inputs.hpp"

namespace wirewise {

namespace {

double relative(Bytes predicted, double measured) {
    return static_cast<double>(predicted.count()) / measured - 1;
}

const Reading* reading_of(const MeasuredCase& one, MeasuredQuantity quantity) {
    for (const Reading& reading : one.readings)
        if (reading.quantity == quantity) return &reading;
    return nullptr;
}

// Errors of one outcome of the races that decide a peak.
struct OutcomeErrors {
    std::optional<double> allocated, reserved, device_used;
    double size() const {
        return std::abs(allocated.value_or(0)) + std::abs(reserved.value_or(0)) +
               std::abs(device_used.value_or(0));
    }
};

OutcomeErrors errors_of(const MeasuredCase& one, Bytes allocated, Bytes reserved, Bytes outside) {
    const auto error = [&](MeasuredQuantity quantity, Bytes predicted) -> std::optional<double> {
        const Reading* reading = reading_of(one, quantity);
        if (!reading) return std::nullopt;
        return relative(predicted, reading->value);
    };
    return {error(MeasuredQuantity::peak_allocated_bytes, allocated),
            error(MeasuredQuantity::peak_reserved_bytes, reserved),
            error(MeasuredQuantity::device_used_bytes, reserved + outside)};
}

// The nearest outcome is the one that happened.
void add_memory(const MeasuredCase& one, const Estimate& estimate, RuntimeSamples& samples) {
    const Bytes outside = estimate.runtime.total();
    OutcomeErrors best = errors_of(one, estimate.peak.allocated, estimate.reserved, outside);
    if (!best.allocated && !best.reserved && !best.device_used) return;
    bool expected = true;
    for (const RacePeak& other : estimate.others) {
        const OutcomeErrors errors = errors_of(one, other.allocated, other.reserved, outside);
        if (errors.size() < best.size()) best = errors, expected = false;
    }
    if (!estimate.others.empty()) ++samples.races, samples.as_expected += expected ? 1 : 0;
    if (best.allocated) samples.allocated.push_back(*best.allocated);
    if (best.reserved) samples.reserved.push_back(*best.reserved);
    if (best.device_used) samples.device_used.push_back(*best.device_used);
}

class Gathering {
  public:
    explicit Gathering(const CostProfile& profile) : profile_(profile) {}

    void add_step(const MeasuredCase& one) {
        auto inputs = inputs_of(plan_options_of(std::get<TrainingStepCase>(one.subject).plan_options,
                                                "sample", "keys are the options of `plan` with underscores"));

        auto question = std::make_shared<Question>(std::move(inputs.question));
        const HostCosts host = question->profile.host;  // the machine's
        question->profile = profile_;
        question->profile.host = host;
        const Site site = site_of(*question, question->gpus);
        const ParallelPlan plan = plan_for(*question, question->strategies.front(), site.ranks());
        RuntimeSamples& runtime = samples.runtimes[std::string(name_of(plan.runtime))];
        add_memory(one, estimate_memory(question->model, plan, site), runtime);
        const Reading* time = reading_of(one, MeasuredQuantity::step_seconds);
        if (!time || plan.gradient_accumulation > kWalkedMicroBatches) return;
        runtime.tokens.push_back(static_cast<double>(plan.tokens_per_micro_batch()));
        runtime.sequences.push_back(static_cast<double>(plan.sequence_length));
        samples.times.push_back(observe_step(
            {one.id, question->model.name, one.labels.wire, question, plan, Seconds(time->value)}));
    }

    void add_kernel(const MeasuredCase& one) {
        if (auto observation = observe_kernel(one)) samples.times.push_back(std::move(*observation));
    }

    CalibrationSamples samples;

  private:
    const CostProfile& profile_;
};

std::string machine_of(const MeasuredCase& one) { return one.labels.hardware; }

}  // namespace

const GpuModel& gpu_of_samples(const std::vector<MeasuredCase>& cases) {
    std::set<std::string> machines;
    for (const MeasuredCase& one : cases) machines.insert(machine_of(one));
    const GpuModel* gpu = nullptr;
    std::vector<std::string> notes;
    for (const std::string& name : machines) {
        const Machine machine = load_machine(name, {}, notes);
        const GpuModel* model = machine.gpus.empty() ? nullptr : machine.gpus.front().model;
        if (!model) throw InputError(name, "does not say which GPUs it has", "name them in the machine");
        if (gpu && gpu != model)
            throw InputError("SAMPLES", fmt::format("are of {} and {}", gpu->name, model->name),
                             "give the samples of one GPU kind at a time");
        gpu = model;
    }
    if (!gpu) throw InputError("SAMPLES", "hold no sample", "give files of measured cases");
    return *gpu;
}

CalibrationSamples gather(const std::vector<MeasuredCase>& cases, const CostProfile& profile,
                          std::vector<std::string>& warnings,
                          const std::function<void(std::size_t, std::size_t, const std::string&)>& progress) {
    Gathering gathering(profile);
    std::map<std::string, int> left_out;  // by reason
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const MeasuredCase& one = cases[i];
        progress(i, cases.size(), one.id);
        if (!one.set_aside.empty()) {
            ++left_out[one.set_aside];
            continue;
        }
        if (std::holds_alternative<TrainingStepCase>(one.subject)) try {
                gathering.add_step(one);
            } catch (const InputError& error) {
                warnings.push_back(fmt::format("{} is left out: {}", one.place, error.what()));
            }
        gathering.add_kernel(one);
    }
    for (const auto& [reason, count] : left_out)
        warnings.push_back(fmt::format("{} samples left out: {}", count, reason));
    return std::move(gathering.samples);
}

}  // namespace wirewise
