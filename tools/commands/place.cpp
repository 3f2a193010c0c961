#include "model/collectives/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "model/transformer/read_config.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "simulator/planner/candidate.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/inputs.hpp"
#include "tools/inputs/machine.hpp"
#include "tools/inputs/training.hpp"

namespace wirewise {

namespace {

struct Options {
    PlanOptions plan;
    OutputOptions output;
    int count = 0;
    std::string bytes = "1 GiB";
};

// Step time of the first strategy named, on given GPUs.
class Steps {
  public:
    Steps(const Options& options, const Placement& first) : inputs_(inputs_at(options, first)) {}

    Seconds on(const Placement& placement) const {
        const Question& question = inputs_.question;
        const std::vector<int> ranks = on_all_servers(question.machine, placement.order);
        const auto plan = plan_for(question, question.strategies.front(), static_cast<int>(ranks.size()));
        return estimate(question.model, plan, site_of(question, ranks)).time.step;
    }

  private:
    static Inputs inputs_at(const Options& options, const Placement& placement) {
        PlanOptions plan = options.plan;
        plan.machine.gpu_ids = fmt::format("{}", fmt::join(placement.order, ","));
        if (plan.training.strategy == "all") plan.training.strategy = "fsdp";
        return inputs_of(plan);
    }
    Inputs inputs_;
};

std::string naive_loss(const std::vector<Placement>& placements) {
    for (const Placement& placement : placements)
        if (placement.naive)
            return fmt::format("the first {} GPUs in the driver's order ({}) would have {:.0f} % of the best",
                               placement.order.size(), fmt::join(placement.order, ","),
                               100 * (placement.busbw / placements.front().busbw));
    return "";
}

// Ranks of a group that reduces on its own; 0: all together.
int group_of(const TrainingOptions& options) {
    return options.shard_group ? static_cast<int>(positive(*options.shard_group, "--shard-group")) : 0;
}

Report place_report(const Options& options) {
    Report report;
    const Machine machine = machine_of(options.plan.machine, report.warnings);
    const NcclEnvironment environment = environment_of(options.plan.machine, report.warnings);
    const int least = machine.servers > 1 ? 1 : 2;
    if (options.count < least || options.count > machine.gpus_per_server())
        throw InputError(
            "--count",
            fmt::format("{} of the {} GPUs of {}", options.count, machine.gpus_per_server(), machine.name),
            fmt::format("write {} to {}", least, machine.gpus_per_server()));
    const Bytes bytes = parse_bytes(options.bytes, "--bytes");
    if (bytes < 1_B) throw InputError("--bytes", "is zero", "write for example 1GiB");
    if (!options.plan.machine.gpu_ids.empty() || options.plan.machine.gpus)
        report.warnings.emplace_back(
            "--gpus and --gpu-ids have no effect here: --count says how many, and all are searched");
    const auto placements = place(machine, environment, options.count,
                                  {CollectiveKind::all_reduce, bytes, group_of(options.plan.training)});
    std::optional<Steps> steps;
    if (!options.plan.model.model.empty()) steps.emplace(options, placements.front());
    report.document = {{"schema", "wirewise.place/1"}, {"machine", machine.name},
                       {"nodes", machine.servers},     {"count", options.count},
                       {"bytes", bytes.count()},       {"placements", Json::array()}};
    report.records = "placements";
    report.tables.push_back(
        {fmt::format("all-reduce of {}{}; choices wired alike are listed once", to_text(bytes),
                     machine.servers > 1
                         ? fmt::format(" over {} nodes, the same GPUs of each", machine.servers)
                         : ""),
         {"<rank order", "busbw GB/s", "step ms", "alike", "<bottleneck"},
         {},
         0});
    for (const Placement& placement : placements) {
        const Json step = steps ? Json(steps->on(placement).value()) : Json(nullptr);
        report.document["placements"].push_back({{"gpus", placement.gpus()},
                                                 {"order", placement.order},
                                                 {"alike", placement.alike},
                                                 {"naive", placement.naive},
                                                 {"busbw_bytes_per_second", placement.busbw.value()},
                                                 {"step_seconds", step},
                                                 {"bottleneck", placement.bottleneck},
                                                 {"export", visible_devices(placement)}});
        report.tables.front().rows.push_back({fmt::format("{}", fmt::join(placement.order, ",")),
                                              fmt::format("{:.1f}", placement.busbw.value() / 1e9),
                                              steps ? fmt::format("{:.1f}", step.get<double>() * 1e3) : "",
                                              std::to_string(placement.alike), placement.bottleneck});
    }
    report.after = {visible_devices(placements.front()), naive_loss(placements)};
    return report;
}

}  // namespace

void add_place_command(CommandLine& line) {
    CLI::App& command =
        line.add("place", "which GPUs to use, in which order, ranked, with the line to export");
    auto options = std::make_shared<Options>();
    options->plan.add_to(command);
    command.add_option("--count", options->count, "how many GPUs of each node")->required();
    command.add_option("--bytes", options->bytes, "judged by an all-reduce of this size [1 GiB]");
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return place_report(*options); });
}

}  // namespace wirewise
