#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "simulator/planner/placement.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/machine.hpp"

namespace wirewise {

namespace {

struct Options {
    MachineOptions machine;
    OutputOptions output;
    int count = 0;
    std::string bytes = "256 MiB";
};

std::string export_line(const std::vector<int>& gpus) {
    return fmt::format("export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={}", fmt::join(gpus, ","));
}

Report place(const Options& options) {
    Report report;
    const Machine machine = machine_of(options.machine, report.warnings);
    const NcclEnvironment environment = environment_of(options.machine, report.warnings);
    if (options.count < 2 || options.count > machine.gpus_per_server())
        throw InputError("--count", fmt::format("{} of the {} GPUs of {}", options.count, machine.gpus_per_server(), machine.name),
                         fmt::format("write 2 to {}", machine.gpus_per_server()));
    const Bytes bytes = parse_bytes(options.bytes, "--bytes");
    report.document = {{"schema", "wirewise.place/1"}, {"machine", machine.name}, {"count", options.count}, {"bytes", bytes.count()}, {"placements", Json::array()}};
    report.records = "placements";
    report.tables.push_back({fmt::format("all-reduce of {}; GPUs that look alike are listed once", to_text(bytes)), {"<GPUs", "busbw GB/s", "<bottleneck"}, {}, 0});
    for (const RankedGpus& placement : rank_placements(machine, environment, options.count, bytes)) {
        report.document["placements"].push_back({{"gpus", placement.gpus}, {"order", placement.gpus}, {"alike", placement.alike}, {"busbw_bytes_per_second", placement.busbw.value()},
                                                 {"bottleneck", placement.bottleneck}, {"export", export_line(placement.gpus)}});
        report.tables.front().rows.push_back({fmt::format("{}", fmt::join(placement.gpus, ",")), fmt::format("{:.1f}", placement.busbw.value() / 1e9), placement.bottleneck});
    }
    report.after.push_back(export_line(report.document["placements"][0]["gpus"].get<std::vector<int>>()));
    return report;
}

}  // namespace

void add_place_command(CommandLine& line) {
    CLI::App& command = line.add("place", "which GPUs to use, ranked, with the line to export");
    auto options = std::make_shared<Options>();
    options->machine.add_to(command, false);
    command.add_option("--count", options->count, "how many GPUs")->required();
    command.add_option("--bytes", options->bytes, "judged by an all-reduce of this size [256 MiB]");
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return place(*options); });
}

}  // namespace wirewise
