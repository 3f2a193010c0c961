#include <fstream>
#include <iostream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/topology/built_in.hpp"
#include "model/topology/import.hpp"
#include "model/topology/machine_json.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/files.hpp"

namespace wirewise {

namespace {

struct Options {
    std::string what, gpu;
    bool list = false;
    OutputOptions output;
};

ImportResult read(const Options& options) {
    ImportHints hints;
    if (!options.gpu.empty()) hints.gpu = &gpu_model(options.gpu);
    if (options.what == "-") return import_machine(std::string{std::istreambuf_iterator<char>(std::cin), {}}, hints);
    if (auto machine = built_in_machine(options.what)) {
        ImportResult result{Verdict::ok, "built-in machine", {}, {}, {}, std::move(machine), {}};
        result.facts = facts_of(*result.machine);
        return result;
    }
    hints.name = options.what;
    return import_machine(text_of_file(options.what, "topo"), hints);
}

Json facts_json(const TopologyFacts& facts) {
    Json json{{"gpus", Json::array()}, {"nics", Json::array()}, {"pairs", Json::array()}, {"islands", facts.islands}};
    for (const GpuFacts& gpu : facts.gpus) {
        Json affinity = Json::object();
        for (const auto& [name, value] : gpu.affinity) affinity[name] = value ? Json(*value) : Json(nullptr);
        json["gpus"].push_back({{"id", gpu.id}, {"model", gpu.model}, {"busid", gpu.busid}, {"affinity", affinity}});
    }
    for (const NicFacts& nic : facts.nics) json["nics"].push_back({{"id", nic.id}, {"name", nic.name}});
    for (const PairFacts& pair : facts.pairs)
        json["pairs"].push_back({{"a", pair.a},
                                 {"b", pair.b},
                                 {"class", pair.path},
                                 {"nvlinks", pair.nvlinks},
                                 {"bandwidth_bytes_per_second", pair.bandwidth ? Json(pair.bandwidth->value()) : Json(nullptr)}});
    return json;
}

// The matrix as nvidia-smi prints it, with what each pair can exchange.
Table matrix(const TopologyFacts& facts) {
    Table table{"", {"<"}, {}, -1};
    for (const GpuFacts& gpu : facts.gpus) table.columns.push_back("<" + gpu.id);
    for (const GpuFacts& row : facts.gpus) {
        std::vector<std::string> cells{row.id};
        for (const GpuFacts& column : facts.gpus) {
            std::string cell = row.id == column.id ? "X" : "?";
            for (const PairFacts& pair : facts.pairs)
                if ((pair.a == row.id && pair.b == column.id) || (pair.b == row.id && pair.a == column.id))
                    cell = pair.path + (pair.bandwidth ? fmt::format(" {:.0f}", pair.bandwidth->value() / 1e9) : "");
            cells.push_back(cell);
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

std::string islands_text(const TopologyFacts& facts) {
    std::string text = "NVLink islands:";
    for (const auto& island : facts.islands) text += fmt::format(" {{{}}}", fmt::join(island, ","));
    return text;
}

void append(std::vector<std::string>& lines, const char* what, const std::vector<std::string>& items) {
    for (const auto& item : items) lines.push_back(fmt::format("{}: {}", what, item));
}

Report report_of(const ImportResult& result) {
    Report report;
    report.document = {{"schema", "wirewise.topo/1"}, {"verdict", name_of(result.verdict)}, {"kind", result.kind},
                       {"repairs", result.repairs}, {"missing", result.missing}, {"warnings", result.warnings}};
    report.document.update(facts_json(result.facts));
    report.records = "pairs";
    report.before.push_back(fmt::format("{}: {}", result.kind, name_of(result.verdict)));
    if (!result.facts.gpus.empty()) {
        report.tables.push_back(matrix(result.facts));
        report.after.push_back(islands_text(result.facts) + "   (class, GB/s one way)");
    }
    append(report.after, "repaired", result.repairs);
    append(report.after, "missing", result.missing);
    append(report.after, "warning", result.warnings);
    report.exit_code = result.verdict == Verdict::ok || result.verdict == Verdict::ok_with_repair ? 0 : 2;
    if (report.exit_code != 0) {
        const auto& reasons = result.verdict == Verdict::reject ? result.warnings : result.missing;
        report.errors.push_back(fmt::format("{}: {}", name_of(result.verdict), fmt::join(reasons, "; ")));
    }
    return report;
}

Report list_report() {
    Report report;
    report.document = {{"schema", "wirewise.machines/1"}, {"machines", Json::array()}};
    report.records = "machines";
    report.tables.push_back({"", {"<machine", "GPUs", "<description"}, {}, -1});
    for (const std::string& name : built_in_machine_names()) {
        const Machine machine = *built_in_machine(name);
        report.document["machines"].push_back({{"name", name}, {"gpus", machine.gpus.size()}, {"description", machine.description}, {"source", machine.source}});
        report.tables.front().rows.push_back({name, std::to_string(machine.gpus.size()), machine.description});
    }
    return report;
}

Report topo(Options& options) {
    if (options.list) return list_report();
    if (options.what.empty()) throw InputError("wirewise topo", "no machine is named", "give a file, a built-in name, - or --list");
    const ImportResult result = read(options);
    if (options.output.format != "machine") return report_of(result);
    if (!result.machine) throw InputError(options.what, "gives no machine to write", "see wirewise topo without --format machine");
    Report report;
    report.raw = to_json_text(*result.machine);
    return report;
}

}  // namespace

void add_topo_command(CommandLine& line) {
    CLI::App& command = line.add("topo", "read a machine's wiring: matrix, islands, repairs, what is missing");
    auto options = std::make_shared<Options>();
    command.add_option("FILE", options->what, "nvidia-smi topo -m text, NCCL topology XML, our JSON, a built-in name, or -");
    command.add_option("--gpu", options->gpu, "the GPU's name, when the text does not say it");
    command.add_flag("--list", options->list, "the built-in machines");
    options->output.add_to(command, ", machine (our JSON)");
    line.answer(command, options->output, [options] { return topo(*options); });
}

}  // namespace wirewise
