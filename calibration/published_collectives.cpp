#include "calibration/published_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>

#include <nlohmann/json.hpp>

#include "model/units/error.hpp"

namespace wirewise {
namespace {

using Json = nlohmann::json;

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

// Two bridged pairs of A100 PCIe on one NUMA node (NODE between them), as nccl-tests issue 178 describes it.
constexpr std::string_view kBridgedA100 = R"({"schema": "wirewise.machine/1", "name": "a100-pcie-nv12-pairs",
    "source": "NVIDIA/nccl-tests issue 178", "cpu": "amd-epyc", "gpu": "a100-80gb-pcie", "numa": [{"gpus": [0, 1, 2, 3]}],
    "nvlink": [{"pair": [0, 1], "links": 12}, {"pair": [2, 3], "links": 12}]})";

constexpr std::string_view kBridged2080Ti = R"({"schema": "wirewise.machine/1", "name": "rtx-2080-ti-bridged",
    "source": "NVIDIA/nccl-tests issue 44", "cpu": "intel-skylake", "gpu": "rtx-2080-ti", "numa": [{"gpus": [0, 1]}],
    "nvlink": [{"pair": [0, 1], "links": 2}]})";

struct MachineRule {
    std::string_view word, also, machine, fabric;
};
// First match wins. `also` must stand in the wiring text.
constexpr MachineRule kMachines[] = {
    {"p4de", "", "aws-p4de-24xlarge", "efa-p4d"},
    {"p5.48xlarge", "", "aws-p5-48xlarge", "efa-p5"},
    {"p5en", "", "hgx-h200-8", "efa-p5en"},
    {"gb200", "", "gb200-nvl72", "infiniband-ndr"},
    {"b200", "", "hgx-b200-8", "efa-p6"},
    {"h200 nvl", "", "h200-nvl-8", "infiniband-ndr"},
    {"nd h200", "", "hgx-h200-8", "infiniband-ndr"},
    {"nd h100", "", "azure-ndv5", "infiniband-ndr"},
    {"nd a100", "", "azure-ndv4", "infiniband-hdr"},
    {"h200", "", "hgx-h200-8", "infiniband-ndr"},
    {"h800", "", "hgx-h800-8", "infiniband-ndr"},
    {"h100 pcie", "", "h100-pcie-4", "infiniband-ndr"},
    {"h100", "roce", "hgx-h100-8", "roce-400g"},
    {"h100", "", "hgx-h100-8", "infiniband-ndr"},
    {"a100 pcie", "nv12", kBridgedA100, "infiniband-hdr"},
    {"a100", "4x 200gb", "dgx-a100-8", "infiniband-hdr-half"},
    {"a100", "", "dgx-a100-8", "infiniband-hdr"},
    {"v100", "mesh", "dgx-1-v100", "infiniband-edr"},
    {"mi300x", "", "mi300x-8", "infiniband-ndr"},
    {"2080 ti", "nv2", kBridged2080Ti, ""},
    {"4090", "", "rtx-4090-8", ""},
    {"5090", "", "rtx-5090-8", ""},
};

// Kinds of GPU for topology texts that do not name them.
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"a100-sxm4-40gb", "a100-40gb-sxm"},
    {"2080 ti", "rtx-2080-ti"},
    {"a6000", "rtx-a6000"},
    {"b200", "b200"},
    {"a100 80gb pcie", "a100-80gb-pcie"},
};

void choose_machine(const Json& row, const Words& words, const std::filesystem::path& folder,
                    PublishedCollective& run) {
    if (const std::string topology = text_of(row, "topo_file"); !topology.empty()) {
        run.machine = (folder.parent_path() / "topology_corpus" / topology).string();
        for (const auto& [word, gpu] : kKinds)
            if (words.hardware_says(word)) {
                run.gpu = gpu;
                return;
            }
    }
    for (const MachineRule& rule : kMachines)
        if (words.hardware_says(rule.word) && words.wiring_says(rule.also)) {
            run.machine = rule.machine;
            run.fabric = rule.fabric;
            return;
        }
    run.set_aside = "the GPU or its wiring is not stated";
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

// Reasons that lie in what the row says, never in how far off it is.
std::string reason_to_set_aside(const Json& row, const Words& words) {
    if (row.contains("usable") && !row["usable"].get<bool>()) return "marked as not usable";
    if (words.run_says("-r 1") || words.run_says("-r 2"))
        return "registered or symmetric buffers: another software path";
    if (words.run_says("reported as low") || says(lower(text_of(row, "source")), "issues/2409"))
        return "a fault report: its own reporter expects twice as much";
    if (says(lower(text_of(row, "source")), "issues/1161"))
        return "a fault report: half of what the bridge should give";
    if (words.hardware_says("rented"))
        return "a rented virtual machine whose peer access hangs; copies run at 2.7 GB/s";
    if (words.hardware_says("20 racks")) return "the fabric between the racks is not described";
    if (words.wiring_says("excerpt does not name")) return "the collective is not named";
    if (words.run_says("quotes")) return "quoted by a summary: algbw or busbw not stated";
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
    run.fabric_nics = words.wiring_says("nics") || words.wiring_says("dual-port");
    return run;
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
    return runs;
}

}  // namespace wirewise
