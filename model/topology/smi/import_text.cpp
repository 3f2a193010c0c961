#include "model/topology/smi/import_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/topology/disjoint_sets.hpp"
#include "model/topology/smi/other_text.hpp"
#include "model/topology/smi/spreadsheet.hpp"
#include "model/topology/smi/wiring.hpp"

namespace wirewise::smi {
namespace {

TopologyFacts facts_of_matrix(const Matrix& matrix) {
    TopologyFacts facts;
    const std::vector<std::size_t> gpus = matrix.gpus();
    std::vector<std::size_t> all = gpus;
    for (const std::size_t nic : matrix.nics()) all.push_back(nic);
    for (const std::size_t index : all) {
        const Device& device = matrix.devices[index];
        if (device.gpu)
            facts.gpus.push_back(
                {device.column, device.model ? device.model->name : "", device.busid, device.affinity});
        else
            facts.nics.push_back({device.column, device.name});
    }
    DisjointSets islands(matrix.devices.size());
    for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = a + 1; b < all.size(); ++b) {
            const auto cell = matrix.cell(all[a], all[b]);
            if (!cell) continue;
            facts.pairs.push_back({matrix.devices[all[a]].column, matrix.devices[all[b]].column,
                                   to_text(*cell), cell->nvlinks, std::nullopt});
            if (cell->path == PathClass::nvlink) islands.join(all[a], all[b]);
        }
    for (const auto& island : islands.sets(gpus)) {
        std::vector<int>& ids = facts.islands.emplace_back();
        for (const std::size_t member : island)
            ids.push_back(static_cast<int>(std::find(gpus.begin(), gpus.end(), member) - gpus.begin()));
    }
    return facts;
}

// The printed facts keep their words; rates and kinds come from the graph.
void add_rates(const Machine& machine, TopologyFacts& facts) {
    const auto node = [&](const std::string& id) -> NodeId {
        for (std::size_t i = 0; i < facts.gpus.size(); ++i)
            if (facts.gpus[i].id == id) return machine.gpus[i].node;
        const auto nic =
            std::find_if(facts.nics.begin(), facts.nics.end(), [&](const auto& n) { return n.id == id; });
        const auto found = std::find_if(machine.nics.begin(), machine.nics.end(),
                                        [&](const MachineNic& n) { return n.name == nic->name; });
        return found->node;
    };
    for (PairFacts& pair : facts.pairs) pair.bandwidth = path_rate(machine, node(pair.a), node(pair.b));
    for (std::size_t i = 0; i < facts.gpus.size(); ++i)
        if (machine.gpus[i].model) facts.gpus[i].model = machine.gpus[i].model->name;
}

}  // namespace

bool holds_matrix(std::string_view text) {
    if (is_of_amd(text)) return false;
    Repairs repairs;
    std::vector<std::string> lines = clean_lines(text, repairs);
    undo_spreadsheet(lines, repairs);
    return read_matrix(lines, repairs).matrix.has_value();
}

ImportResult import_text(std::string_view text, const ImportHints& hints) {
    ImportResult result;
    result.kind = "nvidia-smi topo -m text";
    Repairs repairs;
    std::vector<std::string> lines = clean_lines(text, repairs);
    undo_spreadsheet(lines, repairs);
    Reading reading = read_matrix(lines, repairs);
    if (!reading.matrix || is_of_amd(text)) {
        result.kind = "text";
        result.warnings.push_back(what_it_is(text, reading.other));
        return result;
    }
    Matrix& matrix = *reading.matrix;
    result.repairs = repairs.list();
    result.missing = matrix.missing;
    result.warnings = matrix.warnings;
    result.facts = facts_of_matrix(matrix);
    if (matrix.gpu_wiring_known()) {
        result.machine = machine_of(matrix, lines, hints, result.warnings);
        add_rates(*result.machine, result.facts);
    }
    result.verdict = !matrix.missing.empty()   ? Verdict::incomplete
                     : !result.repairs.empty() ? Verdict::ok_with_repair
                                               : Verdict::ok;
    return result;
}

}  // namespace wirewise::smi
