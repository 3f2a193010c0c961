#include "model/topology/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/units/text.hpp"

namespace wirewise {
namespace {

Json gpu_row(const GpuFacts& gpu) {
    Json affinity = Json::object();
    for (const auto& [heading, text] : gpu.affinity) affinity[heading] = text ? Json(*text) : Json(nullptr);
    return {{"id", gpu.id},
            {"model", gpu.model.empty() ? Json(nullptr) : Json(gpu.model)},
            {"busid", gpu.busid.empty() ? Json(nullptr) : Json(gpu.busid)},
            {"affinity", std::move(affinity)}};
}

Json pair_row(const PairFacts& pair) {
    return {{"a", pair.a},
            {"b", pair.b},
            {"class", pair.path},
            {"nvlinks", pair.nvlinks},
            {"bandwidth_bytes_per_second", pair.bandwidth ? Json(pair.bandwidth->value()) : Json(nullptr)}};
}

std::string island_text(const TopologyFacts& facts) {
    std::vector<std::string> sets;
    for (const std::vector<int>& island : facts.islands)
        sets.push_back(fmt::format("{{{}}}", fmt::join(island, " ")));
    return fmt::format("{}", fmt::join(sets, " "));
}

// The matrix as nvidia-smi lays it out, with the rate of every pair of GPUs below it.
std::string matrix_text(const TopologyFacts& facts) {
    std::vector<std::string> ids;
    for (const GpuFacts& gpu : facts.gpus) ids.push_back(gpu.id);
    for (const NicFacts& nic : facts.nics) ids.push_back(nic.id);
    std::map<std::pair<std::string, std::string>, std::string> cells;
    for (const PairFacts& pair : facts.pairs) cells[{pair.a, pair.b}] = cells[{pair.b, pair.a}] = pair.path;
    std::string out = fmt::format("{:8}", "");
    for (const std::string& id : ids) out += fmt::format("{:>7}", id);
    for (const std::string& row : ids) {
        out += fmt::format("\n{:8}", row);
        for (const std::string& column : ids) {
            const auto cell = cells.find({row, column});
            out += fmt::format("{:>7}", row == column ? "X" : cell == cells.end() ? "?" : cell->second);
        }
    }
    return out + "\n";
}

std::string rates_text(const TopologyFacts& facts) {
    std::map<std::string, std::pair<int, BytesPerSecond>> classes;  // by class: how many pairs, the narrowest
    for (const PairFacts& pair : facts.pairs) {
        if (!pair.a.starts_with("GPU") || !pair.b.starts_with("GPU") || !pair.bandwidth) continue;
        auto& [count, rate] = classes.try_emplace(pair.path, 0, *pair.bandwidth).first->second;
        ++count;
        rate = std::min(rate, *pair.bandwidth);
    }
    std::string out;
    for (const auto& [path, row] : classes)
        out += fmt::format("{:5} {:3} pair{} of GPUs, {} one way\n", path, row.first,
                           row.first == 1 ? " " : "s", to_text(row.second));
    return out;
}

}  // namespace

Json topology_report(const ImportResult& result) {
    Json out{{"schema", "wirewise.topo/1"}, {"verdict", name_of(result.verdict)},
             {"kind", result.kind},         {"repairs", result.repairs},
             {"missing", result.missing},   {"warnings", result.warnings},
             {"gpus", Json::array()},       {"nics", Json::array()},
             {"pairs", Json::array()},      {"islands", result.facts.islands}};
    for (const GpuFacts& gpu : result.facts.gpus) out["gpus"].push_back(gpu_row(gpu));
    for (const NicFacts& nic : result.facts.nics) out["nics"].push_back({{"id", nic.id}, {"name", nic.name}});
    for (const PairFacts& pair : result.facts.pairs) out["pairs"].push_back(pair_row(pair));
    return out;
}

std::string topology_table(const ImportResult& result) {
    std::string out = fmt::format("{}: {}\n", result.kind, name_of(result.verdict));
    const auto lines = [&](std::string_view label, const std::vector<std::string>& texts) {
        for (const std::string& text : texts) out += fmt::format("{}: {}\n", label, text);
    };
    lines("repaired", result.repairs);
    lines("missing", result.missing);
    lines("warning", result.warnings);
    if (result.facts.gpus.empty()) return out;
    out += '\n';
    out += matrix_text(result.facts);
    for (const NicFacts& nic : result.facts.nics)
        if (nic.id != nic.name) out += fmt::format("{}: {}\n", nic.id, nic.name);
    out += fmt::format("\nislands: {}\n{}", island_text(result.facts), rates_text(result.facts));
    return out;
}

}  // namespace wirewise
