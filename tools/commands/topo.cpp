#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include <CLI/CLI.hpp>

#include "model/topology/built_in.hpp"
#include "model/topology/draw/draw.hpp"
#include "model/topology/live.hpp"
#include "model/topology/machine_json.hpp"
#include "model/topology/report.hpp"
#include "model/units/error.hpp"
#include "tools/commands/commands.hpp"

namespace wirewise {

namespace {

struct Options {
    std::string what, gpu;
    bool list = false, live = false;
    OutputOptions output;
};

ImportResult read(const Options& options) {
    ImportHints hints;
    if (!options.gpu.empty()) hints.gpu = &gpu_named(options.gpu);
    if (options.live) return import_live(hints);
    if (options.what == "-") return import_machine(read_topology(std::cin, "standard input"), hints);
    if (auto machine = built_in_machine(options.what)) {
        ImportResult result{Verdict::ok, "built-in machine", {}, {}, {}, std::move(machine), {}};
        result.facts = facts_of(*result.machine);
        return result;
    }
    return import_file(options.what, hints);
}

Report report_of(const ImportResult& result) {
    Report report;
    report.document = topology_report(result);
    report.records = "pairs";
    report.verbatim = topology_table(result);
    report.exit_code = result.verdict == Verdict::ok || result.verdict == Verdict::ok_with_repair ? 0 : 2;
    const auto& reasons = result.verdict == Verdict::reject ? result.warnings : result.missing;
    if (report.exit_code != 0)
        report.errors.push_back(fmt::format("{}: {}", name_of(result.verdict), fmt::join(reasons, "; ")));
    return report;
}

Report list_report() {
    Report report;
    report.document = {{"schema", "wirewise.machines/1"}, {"machines", Json::array()}};
    report.records = "machines";
    report.tables.push_back({"", {"<machine", "GPUs", "<description"}, {}, -1});
    for (const std::string& name : built_in_machine_names()) {
        const Machine machine = *built_in_machine(name);
        report.document["machines"].push_back({{"name", name},
                                               {"gpus", machine.gpus.size()},
                                               {"description", machine.description},
                                               {"source", machine.source}});
        report.tables.front().rows.push_back(
            {name, std::to_string(machine.gpus.size()), machine.description});
    }
    return report;
}

// Pictures and files of the machine itself; nothing for the formats of every command.
std::string drawn(const Machine& machine, const std::string& format) {
    if (format == "machine") return to_json_text(machine);
    if (format == "svg") return to_svg(machine);
    if (format == "dot") return to_dot(machine);
    return {};
}

Report topo(const Options& options) {
    if (options.list) return list_report();
    if (options.what.empty() && !options.live)
        throw InputError("wirewise topo", "no machine is named",
                         "give a file, a built-in name, -, --live or --list");
    const ImportResult result = read(options);
    const bool picture = options.output.format == "machine" || options.output.format == "svg" ||
                         options.output.format == "dot";
    if (!picture || !result.machine) {
        Report report = report_of(result);
        if (picture) report.raw = report.document.dump(2) + "\n";  // there is nothing to draw: say why
        return report;
    }
    Report report;
    report.raw = drawn(*result.machine, options.output.format);
    return report;
}

}  // namespace

void add_topo_command(CommandLine& line) {
    CLI::App& command =
        line.add("topo", "read a machine's wiring: matrix, islands, repairs, what is missing");
    auto options = std::make_shared<Options>();
    command.add_option("FILE", options->what,
                       "nvidia-smi topo -m text, NCCL topology XML, our JSON, a built-in name, or -");
    command.add_flag("--live", options->live, "this machine, as its driver shows it");
    command.add_option("--gpu", options->gpu, "the GPU's name, when the text does not say it");
    command.add_flag("--list", options->list, "the built-in machines");
    options->output.add_to(command, ", svg, dot, machine (our JSON)");
    line.answer(command, options->output, [options] { return topo(*options); });
}

}  // namespace wirewise
