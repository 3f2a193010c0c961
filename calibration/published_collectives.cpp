#include "calibration/published_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "calibration/published_cases.hpp"
#include "model/topology/gpu.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kFaultReport = "part of a fault report: its reporter calls the figures too low";

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string text_of(const Json& row, const char* key) {
    const auto found = row.find(key);
    return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool says(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

// All the words of a row about the machine and the run, in lower case.
struct Words {
    std::string hardware, wiring, run;
    bool hardware_says(std::string_view word) const { return says(hardware, word); }
    bool wiring_says(std::string_view word) const { return says(wiring, word); }
    bool run_says(std::string_view word) const { return says(run, word); }
};

Words words_of(const Json& row) {
    Words words;
    words.hardware = lower(text_of(row, "hardware"));
    words.wiring =
        lower(words.hardware + " " + text_of(row, "interconnect") + " " + text_of(row, "description"));
    words.run = lower(text_of(row, "env") + " " + text_of(row, "notes") + " " + text_of(row, "note"));
    return words;
}

void choose_machine(const Json& row, const Words& words, const std::filesystem::path& folder,
                    PublishedCollective& run) {
    if (const std::string topology = text_of(row, "topo_file"); !topology.empty()) {
        run.machine = (folder.parent_path() / "topology_corpus" / topology).string();
        for (const PublishedGpu& known : published_cases().gpus)
            if (words.hardware_says(known.hardware)) {
                run.gpu = known.gpu;
                return;
            }
        if (const GpuModel* named = gpu_model_in(text_of(row, "hardware"))) {
            run.gpu = named->name;
            return;
        }
    }
    for (const PublishedMachine& known : published_cases().machines)
        if (words.hardware_says(known.hardware) && words.wiring_says(known.wiring)) {
            run.machine = known.machine;
            run.fabric = known.fabric;
            run.fabric_nics = known.fabric_nics;
            return;
        }
    run.set_aside = kNoWiring;
}

std::vector<int> first(int count) {
    std::vector<int> gpus(static_cast<std::size_t>(count));
    std::iota(gpus.begin(), gpus.end(), 0);
    return gpus;
}

void choose_gpus(const Json& row, const Words& words, PublishedCollective& run) {
    constexpr int kPerNode = 8, kPerRack = 72;
    int count = 0;
    if (const auto used = row.find("gpus_used"); used != row.end()) {
        if (used->is_array()) {
            run.gpus = used->get<std::vector<int>>();
            return;
        }
        if (used->is_number_integer()) count = used->get<int>();
        if (used->is_string() && says(used->get<std::string>(), " to "))
            count = kPerNode;  // "4 to 8": flat, the largest
    } else if (const auto gpus = row.find("num_gpus"); gpus != row.end() && gpus->is_number_integer()) {
        count = gpus->get<int>();
        run.nodes = row.value("num_nodes", 1);
    }
    if (words.hardware_says("nvl72"))
        run.nodes = std::max(1, count / kPerRack);  // a rack is one NVLink domain
    else if (count > kPerNode && run.nodes == 1)
        run.nodes = count / kPerNode;
    if (count < 2 || count % run.nodes != 0) {
        run.set_aside = "the number of GPUs is not stated";
        return;
    }
    run.gpus = first(count / run.nodes);
}

void choose_environment(const Json& row, const Words& words, PublishedCollective& run) {
    if (words.run_says("nvls off") || words.run_says("nccl_nvls_enable=0"))
        run.nccl_env.push_back("NCCL_NVLS_ENABLE=0");
    if (words.run_says("nccl_p2p_disable=1") || words.run_says("socket transport"))
        run.nccl_env.push_back("NCCL_P2P_DISABLE=1");
    if (words.run_says("socket transport")) run.nccl_env.push_back("NCCL_SHM_DISABLE=1");
    // nccl_algo alone is what NCCL chose, not what it was told.
    const std::string algorithm = text_of(row, "nccl_algo");
    if (!algorithm.empty() && (text_of(row, "notes") == "forced" || words.wiring_says("nccl_algo=")))
        run.nccl_env.push_back("NCCL_ALGO=" + algorithm);
    if (words.hardware_says("p2p-patched")) {
        run.pcie_peers = true;
        run.nccl_env.push_back("NCCL_P2P_LEVEL=SYS");
    }
}

// Kinds of rows that say nothing about wiring, by what they say of themselves; never by the measured value or
// the error of a prediction.
std::string reason_to_set_aside(const Json& row, const Words& words) {
    if (row.contains("usable") && !row["usable"].get<bool>()) return std::string(kNotUsable);
    if (words.run_says("-r 1") || words.run_says("-r 2"))
        return "registered or symmetric buffers: another software path";
    if (words.run_says("reported as low")) return std::string(kFaultReport);
    if (words.run_says("algbw or busbw not stated")) return "whether algbw or busbw is meant is not stated";
    if (words.hardware_says("rented"))
        return "a rented virtual machine: what stands between its GPUs is not described";
    if (words.hardware_says("nvl72") && words.hardware_says("racks"))
        return "several racks: rails and oversubscription of the network between them are not described";
    for (const SetAside& known : published_cases().set_aside)
        if (says(text_of(row, "source"), known.source)) return known.reason;
    return {};
}

Bytes size_of(const Json& row) {
    const auto found = row.find("size_bytes");
    if (found != row.end() && found->is_number()) return Bytes(found->get<std::int64_t>());
    return 8_GiB;  // peaks quoted without a size
}

PublishedCollective read_row(const Json& row, const std::filesystem::path& file, int line) {
    const Words words = words_of(row);
    PublishedCollective run;
    run.id = fmt::format("{}:{}", file.stem().string(), line);
    run.source = text_of(row, "source");
    run.box = text_of(row, "hardware") + " | " + run.source.substr(0, run.source.find('@'));
    const std::string op = row.contains("op") ? text_of(row, "op") : text_of(row, "collective");
    run.set_aside = reason_to_set_aside(row, words);
    const auto busbw = row.find("busbw_gigabytes_per_second");
    const auto kind = collective_from(op);
    if (!run.set_aside.empty()) return run;
    if (!kind || busbw == row.end() || !busbw->is_number()) {
        run.set_aside = "no collective with a bus bandwidth";
        return run;
    }
    run.op = *kind;
    run.busbw = BytesPerSecond(busbw->get<double>() * 1e9);
    run.bytes = size_of(row);
    choose_machine(row, words, file.parent_path(), run);
    if (run.set_aside.empty()) choose_gpus(row, words, run);
    if (run.set_aside.empty()) choose_environment(row, words, run);
    if (run.nodes == 1) run.fabric.clear();
    run.fabric_nics |= words.wiring_says("nics") || words.wiring_says("dual-port");
    return run;
}

// One row that its reporter calls too slow makes all rows of that source part of a fault report.
void spread_fault_reports(std::vector<PublishedCollective>& runs) {
    std::set<std::string> sources;
    for (const PublishedCollective& run : runs)
        if (run.set_aside == kFaultReport) sources.insert(run.source);
    for (PublishedCollective& run : runs)
        if (run.set_aside.empty() && sources.contains(run.source)) run.set_aside = kFaultReport;
}

}  // namespace

std::vector<PublishedCollective> read_published_collectives(const std::string& file) {
    std::ifstream in(file);
    if (!in)
        throw InputError(file, "cannot be read", "give a file of published runs, one JSON object per line");
    std::vector<PublishedCollective> runs;
    std::string text;
    for (int line = 1; std::getline(in, text); ++line) {
        if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
        const Json row = Json::parse(text, nullptr, false);
        if (!row.is_object())
            throw InputError(fmt::format("{}:{}", file, line), "is not a JSON object", "one object per line");
        runs.push_back(read_row(row, file, line));
    }
    spread_fault_reports(runs);
    return runs;
}

}  // namespace wirewise
