#include "model/topology/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <istream>

#include "model/topology/built_in.hpp"
#include "model/topology/encoding.hpp"
#include "model/topology/machine_json.hpp"
#include "model/topology/smi/import_text.hpp"
#include "model/topology/xml/nccl_xml.hpp"
#include "model/units/error.hpp"
#include "model/units/near.hpp"

namespace wirewise {
namespace {

std::size_t first_sign(std::string_view text) {
    const std::size_t mark = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    return std::min(text.find_first_not_of(" \t\r\n", mark), text.size());
}

ImportResult import_json(std::string_view text, const ImportHints& hints) {
    ImportResult result;
    result.kind = "wirewise machine JSON";
    try {
        result.machine = machine_from_json_text(text, hints.name);
        result.facts = facts_of(*result.machine);
        result.verdict = Verdict::ok;
    } catch (const InputError& error) {
        result.warnings.emplace_back(error.what());
    }
    return result;
}

// Markdown fences, a prompt or a log may stand around the XML.
ImportResult import_embedded_xml(std::string_view text, std::size_t at, const ImportHints& hints) {
    ImportResult result = import_nccl_xml(text.substr(at), hints);
    if (result.verdict == Verdict::ok) result.verdict = Verdict::ok_with_repair;
    result.repairs.emplace_back("words in front of the XML taken off");
    return result;
}

ImportResult import_utf8(std::string_view text, const ImportHints& hints) {
    const std::size_t at = first_sign(text);
    if (at < text.size() && text[at] == '{') return import_json(text.substr(at), hints);
    if (at < text.size() && text[at] == '<' && !smi::holds_matrix(text))
        return import_nccl_xml(text.substr(at), hints);
    ImportResult result = smi::import_text(text, hints);
    const std::size_t root = text.find("<system ");
    if (result.verdict == Verdict::reject && root != std::string_view::npos)
        return import_embedded_xml(text, root, hints);
    return result;
}

[[noreturn]] void refuse_unknown(std::string_view what) {
    throw InputError(std::string(what), "there is no such file and no such built-in machine",
                     fmt::format("near it: {}", fmt::join(near_names(what, built_in_machine_names()), ", ")));
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(path.string(), "cannot be read", "name a readable file");
    return read_topology(file, path.string());
}

}  // namespace

// Pipes and devices have no size to look at beforehand.
std::string read_topology(std::istream& from, const std::string& place) {
    constexpr std::size_t kLargest = std::size_t{16} << 20;  // the largest real topology file is below 1 MB
    constexpr std::size_t kPiece = std::size_t{64} << 10;
    std::string text;
    while (from && text.size() <= kLargest) {
        const std::size_t end = text.size();
        text.resize(end + kPiece);
        from.read(text.data() + end, kPiece);
        text.resize(end + static_cast<std::size_t>(from.gcount()));
    }
    if (text.size() > kLargest) throw InputError(place, "is larger than 16 MiB", "name a machine file");
    if (from.bad()) throw InputError(place, "cannot be read", "name a readable file");
    return text;
}

std::string_view name_of(Verdict verdict) {
    constexpr std::string_view names[] = {"ok", "ok_with_repair", "incomplete", "reject"};
    return names[static_cast<std::size_t>(verdict)];
}

ImportResult import_machine(std::string_view text, const ImportHints& hints) {
    const auto decoded = utf8_of_utf16(text);
    if (!decoded) return import_utf8(text, hints);
    ImportResult result = import_utf8(*decoded, hints);
    if (result.verdict == Verdict::ok) result.verdict = Verdict::ok_with_repair;
    if (result.verdict != Verdict::reject)
        result.repairs.emplace_back(has_byte_order_mark(text) ? "UTF-16 decoded"
                                                              : "UTF-16 without a byte order mark decoded");
    return result;
}

ImportResult import_file(std::string_view path, ImportHints hints) {
    const std::filesystem::path file(path);
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw InputError(std::string(path), "is a folder", "name a file in it");
    if (!std::filesystem::exists(file, error)) refuse_unknown(path);
    hints.name = file.filename().string();
    return import_machine(read_file(file), hints);
}

Machine load_machine(std::string_view what, const ImportHints& hints, std::vector<std::string>& notes) {
    if (auto built_in = built_in_machine(what)) return std::move(*built_in);
    return machine_of(import_file(what, hints), what, notes);
}

Machine machine_of(ImportResult result, std::string_view place, std::vector<std::string>& notes) {
    for (const auto* list : {&result.repairs, &result.warnings})
        notes.insert(notes.end(), list->begin(), list->end());
    if (result.machine) {
        for (const std::string& missing : result.missing) notes.push_back("missing: " + missing);
        return std::move(*result.machine);
    }
    std::vector<std::string> why = result.verdict == Verdict::incomplete ? result.missing : result.warnings;
    if (why.empty()) why = result.warnings;
    if (result.verdict == Verdict::incomplete)
        throw InputError(std::string(place),
                         fmt::format("{} is incomplete, missing: {}", result.kind, fmt::join(why, "; ")),
                         "paste all of it");
    std::string said = fmt::format("{}", fmt::join(why, "; "));
    const std::string name = std::filesystem::path(place).filename().string();  // JSON errors start with it
    if (said.starts_with(name + ":")) said.erase(0, said.find_first_not_of(": ", name.size()));
    throw InputError(std::string(place), said,
                     "give nvidia-smi topo -m text, an NCCL topology XML, or a wirewise machine");
}

TopologyFacts facts_of(const Machine& machine) {
    TopologyFacts facts;
    std::vector<std::pair<std::string, NodeId>> devices;
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
        const MachineGpu& gpu = machine.gpus[i];
        GpuFacts row{fmt::format("GPU{}", i), gpu.model ? gpu.model->name : "", gpu.busid, {}};
        if (!gpu.affinity.empty()) row.affinity.emplace_back("CPU Affinity", gpu.affinity);
        facts.gpus.push_back(std::move(row));
        devices.emplace_back(fmt::format("GPU{}", i), gpu.node);
    }
    for (std::size_t i = 0; i < machine.nics.size(); ++i) {
        facts.nics.push_back({fmt::format("NIC{}", i), machine.nics[i].name});
        devices.emplace_back(fmt::format("NIC{}", i), machine.nics[i].node);
    }
    const std::size_t gpus = machine.gpus.size();
    for (std::size_t a = 0; a < devices.size(); ++a)
        for (std::size_t b = a + 1; b < devices.size(); ++b) {
            const PathClass path = path_class(machine, devices[a].second, devices[b].second);
            const int links = b < gpus ? nvlink_count(machine, static_cast<int>(a), static_cast<int>(b)) : 0;
            std::string printed =
                path == PathClass::nvlink ? fmt::format("NV{}", links) : std::string(name_of(path));
            facts.pairs.push_back({devices[a].first, devices[b].first, std::move(printed), links,
                                   path_rate(machine, devices[a].second, devices[b].second)});
        }
    facts.islands = islands(machine);
    return facts;
}

}  // namespace wirewise
