#include "tools/calibrate/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibration/collective_site.hpp"
#include "calibration/fit/observe.hpp"
#include "model/collectives/pricer.hpp"
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
    Gathering(const CostProfile& profile, const CollectiveSamples& known)
        : profile_(profile), wires_(known) {}

    // Steps that are added later run on the wires as measured here.
    void add_collectives(const std::vector<MeasuredCase>& cases, std::vector<std::string>& warnings) {
        for (const MeasuredCase& one : cases)
            if (const auto* run = std::get_if<PublishedCollective>(&one.subject);
                run && one.set_aside.empty())
                add_collective(one, *run, warnings);
        for (const MeasuredCurve& curve : measured_wires(samples.wires)) wires_.add(curve);
    }

    void add_step(const MeasuredCase& one) {
        auto inputs = inputs_of(plan_options_of(std::get<TrainingStepCase>(one.subject).plan_options,
                                                "sample", "keys are the options of `plan` with underscores"));

        auto question = std::make_shared<Question>(std::move(inputs.question));
        const HostCosts host = question->profile.host;  // the machine's
        question->profile = profile_;
        question->profile.host = host;
        question->samples = wires_;
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

    void add_contention(const ContentionCase& pair, const std::string& id) {
        const CollectiveSite site = site_of(pair.collective);
        const CollectivePricer pricer(site.machine, site.environment, {site.gpus}, &wires_);
        const CollectivePrice price = pricer.price(pair.collective.op, pair.collective.bytes);
        samples.contending.insert({std::string(price.transport), price.channels});
        for (Observation& one :
             observe_contention({id, std::string(price.transport), price.channels, pair.gemm, price.seconds,
                                 pair.matrix_slowdown, pair.collective_slowdown}))
            samples.times.push_back(std::move(one));
    }

    void add_process(const MeasuredCase& one) {
        if (const auto* process = std::get_if<ProcessCase>(&one.subject))
            samples.processes.push_back(
                {process->runtime, process->launch, process->fixed_memory, process->communicator});
    }

  private:
    void add_collective(const MeasuredCase& one, const PublishedCollective& run,
                        std::vector<std::string>& warnings) {
        const Reading* time = reading_of(one, MeasuredQuantity::collective_seconds);
        const CollectiveSite site = site_of(run);
        const auto wire = sampled_wire(site.machine, site.environment, site.gpus);
        if (!time || !wire) {
            warnings.push_back(
                fmt::format("{} is left out: {}", one.place,
                            time ? "its environment pins algorithms or channels, or it spans servers"
                                 : "it states no us"));
            return;
        }
        const CollectivePricer pricer(site.machine, site.environment, {site.gpus}, &wires_);
        samples.wires.push_back({one.id, *wire, run.op, run.bytes, Seconds(time->value),
                                 pricer.price(run.op, run.bytes).seconds});
    }

    const CostProfile& profile_;
    CollectiveSamples wires_;
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

std::vector<MeasuredCase> without_copies(std::vector<MeasuredCase> cases) {
    std::set<std::pair<std::string, std::vector<double>>> seen;
    std::erase_if(cases, [&](const MeasuredCase& one) {
        std::vector<double> readings;
        if (std::holds_alternative<ProcessCase>(one.subject)) return false;
        if (std::holds_alternative<ContentionCase>(one.subject)) return false;
        for (const Reading& reading : one.readings) readings.push_back(reading.value);
        return !seen.insert({one.labels.hardware + "/" + one.id, readings}).second;
    });
    return cases;
}

CalibrationSamples gather(const std::vector<MeasuredCase>& cases, const CostProfile& profile,
                          const CollectiveSamples& known, std::vector<std::string>& warnings,
                          const std::function<void(std::size_t, std::size_t, const std::string&)>& progress) {
    Gathering gathering(profile, known);
    gathering.add_collectives(cases, warnings);
    std::map<std::string, int> left_out;  // by reason
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const MeasuredCase& one = cases[i];
        progress(i, cases.size(), one.id);
        if (std::holds_alternative<ProcessCase>(one.subject)) {
            gathering.add_process(one);
            continue;
        }
        if (const auto* pair = std::get_if<ContentionCase>(&one.subject)) {
            gathering.add_contention(*pair, one.id);
            continue;
        }
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
