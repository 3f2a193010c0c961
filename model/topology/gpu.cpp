#include "model/topology/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "model/topology/json_view.hpp"
#include "model/topology/topologies.hpp"
#include "model/units/error.hpp"
#include "model/units/near.hpp"

namespace wirewise {
namespace {

constexpr const char* kCatalogue = "topologies/gpus.json";

double version_number(const JsonView& view) {
    const std::string text = view.text();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
        view.refuse("not a version", "write \"9.0\"");
    return number;
}

std::vector<std::string> texts(const JsonView& list) {
    std::vector<std::string> all;
    for (const JsonView& item : list.items()) all.push_back(item.text());
    return all;
}

void read_links(const JsonView& row, GpuModel& gpu) {
    const auto nvlink = row.find("nvlink");
    const auto links = nvlink ? nvlink : row.find("xgmi");
    if (!links) return;
    links->expect_keys({"links", "version", "rate", "spec", "bridge"});
    gpu.nvlinks = links->at("links").integer(1, 72);
    if (nvlink) gpu.nvlink_version = links->at("version").integer(1, 9);
    if (const auto bridge = links->find("bridge")) gpu.nvlink_bridge = bridge->boolean();
    gpu.nvlink_rate = links->at("rate").bandwidth();
    gpu.nvlink_spec = links->at("spec").bandwidth();
}

void read_memory(const JsonView& memory, Bytes reserved_at_start, GpuModel& gpu) {
    memory.expect_keys({"total", "free", "source"});
    gpu.memory_total = memory.at("total").bytes();
    const auto free = memory.find("free");
    gpu.memory_free = free ? free->bytes() : gpu.memory_total - reserved_at_start;
    gpu.memory_source = memory.at("source").text();
}

void read_peaks(const JsonView& peaks, GpuModel& gpu) {
    for (const std::string& name : peaks.keys()) {
        const auto dtype = dtype_from(name);
        if (!dtype) peaks.at(name).refuse("not a number format");
        gpu.dense_peak[*dtype] = peaks.at(name).flops_per_second();
    }
}

GpuModel read_row(const JsonView& row, Bytes reserved_at_start) {
    row.expect_keys({"name", "full_name", "vendor", "pci_devices", "recognise", "memory", "dense_peak",
                     "memory_bandwidth", "multiprocessors", "compute_capability", "nvlink", "xgmi", "pcie",
                     "source"});
    GpuModel gpu;
    gpu.name = row.at("name").text();
    gpu.full_name = row.at("full_name").text();
    gpu.vendor = row.at("vendor").text();
    gpu.pci_devices = texts(row.at("pci_devices"));
    gpu.recognise = texts(row.at("recognise"));
    read_memory(row.at("memory"), reserved_at_start, gpu);
    read_peaks(row.at("dense_peak"), gpu);
    gpu.memory_bandwidth = row.at("memory_bandwidth").bandwidth();
    gpu.multiprocessors = row.at("multiprocessors").integer(1, 10000);
    gpu.compute_capability = version_number(row.at("compute_capability"));
    read_links(row, gpu);
    const JsonView pcie = row.at("pcie");
    pcie.expect_keys({"generation", "width", "peer_to_peer"});
    gpu.pcie_generation = pcie.at("generation").integer(1, 7);
    gpu.pcie_width = pcie.at("width").integer(1, 16);
    gpu.pcie_peer_to_peer = pcie.at("peer_to_peer").boolean();
    gpu.source = row.at("source").text();
    return gpu;
}

std::vector<GpuModel> read_catalogue() {
    const Json json = parse_topology_json(topology_file("gpus.json"), kCatalogue);
    const JsonView file(json, kCatalogue);
    const Bytes reserved = file.at("reserved_at_start").at("amount").bytes();
    std::vector<GpuModel> all;
    for (const JsonView& row : file.at("gpus").items()) all.push_back(read_row(row, reserved));
    return all;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Case-insensitive and at word borders, so that "L4" is not found in "L40S".
bool contains_words(std::string_view text, std::string_view fragment) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    auto from = text.begin();
    while (true) {
        const auto at = std::search(from, text.end(), fragment.begin(), fragment.end(), same);
        if (at == text.end()) return false;
        const auto after = at + static_cast<std::ptrdiff_t>(fragment.size());
        if ((at == text.begin() || !is_word(at[-1])) && (after == text.end() || !is_word(*after)))
            return true;
        from = at + 1;
    }
}

}  // namespace

std::span<const GpuModel> all_gpu_models() {
    static const std::vector<GpuModel> all = read_catalogue();
    return all;
}

const GpuModel& gpu_model(std::string_view name) {
    std::vector<std::string> names;
    for (const GpuModel& gpu : all_gpu_models()) {
        if (gpu.name == name) return gpu;
        names.push_back(gpu.name);
    }
    throw InputError("GPU", fmt::format("there is no \"{}\"", name),
                     fmt::format("near it: {}", fmt::join(near_names(name, names), ", ")));
}

const GpuModel* gpu_model_in(std::string_view text) {
    const GpuModel* best = nullptr;
    std::size_t length = 0;
    for (const GpuModel& gpu : all_gpu_models())
        for (const std::string& fragment : gpu.recognise)
            if (fragment.size() > length && contains_words(text, fragment))
                best = &gpu, length = fragment.size();
    return best;
}

const GpuModel& gpu_named(std::string_view words) {
    const auto all = all_gpu_models();
    const bool listed =
        std::any_of(all.begin(), all.end(), [&](const GpuModel& gpu) { return gpu.name == words; });
    const GpuModel* spoken = listed ? nullptr : gpu_model_in(words);
    return spoken ? *spoken : gpu_model(words);
}

const GpuModel* gpu_model_of_device(std::string_view pci_device) {
    for (const GpuModel& gpu : all_gpu_models())
        if (std::find(gpu.pci_devices.begin(), gpu.pci_devices.end(), pci_device) != gpu.pci_devices.end())
            return &gpu;
    return nullptr;
}

}  // namespace wirewise
