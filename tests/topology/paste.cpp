#include "tests/topology/paste.hpp"

#include <map>
#include <vector>

namespace wirewise::testing {
namespace {

using Cells = std::map<std::pair<std::string, std::string>, std::string>;

std::vector<std::string> ids_of(const TopologyFacts& facts) {
    std::vector<std::string> ids;
    for (const GpuFacts& gpu : facts.gpus) ids.push_back(gpu.id);
    for (const NicFacts& nic : facts.nics) ids.push_back(nic.id);
    return ids;
}

Cells cells_of(const TopologyFacts& facts) {
    Cells cells;
    for (const PairFacts& pair : facts.pairs) cells[{pair.a, pair.b}] = cells[{pair.b, pair.a}] = pair.path;
    return cells;
}

std::string header(const std::vector<std::string>& ids, const PasteStyle& style) {
    std::string line = style.header_lead + (style.ansi ? "\x1b[4m" : "");
    for (std::size_t i = 0; i < ids.size(); ++i) line += (i ? style.gap : "") + ids[i];
    if (style.affinity) line += "\tCPU Affinity\tNUMA Affinity";
    return line + (style.ansi ? "\x1b[0m" : "");
}

std::string row(const std::string& id, const std::vector<std::string>& ids, const Cells& cells,
                const PasteStyle& style) {
    std::string line = id + (style.gap.empty() ? "\t" : style.gap);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::string cell = ids[i] == id ? " X " : cells.at({id, ids[i]});
        line += (i ? style.gap : "") + (cell == "SYS" ? style.old_sys : cell);
    }
    if (style.affinity && id.starts_with("GPU")) line += "\t0-31\t0";
    return line;
}

}  // namespace

std::string paste(const TopologyFacts& facts, const PasteStyle& style) {
    const std::vector<std::string> ids = ids_of(facts);
    const Cells cells = cells_of(facts);
    std::vector<std::string> lines;
    if (style.prompt) lines.emplace_back("user@host:~$ nvidia-smi topo -m");
    lines.push_back(header(ids, style));
    for (const std::string& id : ids) lines.push_back(row(id, ids, cells, style));
    if (style.legend) {
        for (const char* line :
             {"", "Legend:", "", "  X    = Self", "  PIX  = Connection traversing a single PCIe bridge", "",
              "NIC Legend:", ""})
            lines.emplace_back(line);
        for (const NicFacts& nic : facts.nics) lines.push_back("  " + nic.id + ": " + nic.name);
    }
    std::string text;
    for (const std::string& line : lines) text += style.line_start + line + style.line_end;
    return text;
}

std::string classes_text(const TopologyFacts& facts) {
    std::string text;
    for (const PairFacts& pair : facts.pairs) text += pair.a + " " + pair.b + " " + pair.path + "\n";
    return text;
}

}  // namespace wirewise::testing
