#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "model/topology/machine.hpp"
#include "model/units/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/doctor/findings.hpp"

namespace wirewise {

namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json gpu_json(const DeviceState& gpu) {
    Json json{{"name", gpu.name},
              {"busid", gpu.bus_id},
              {"memory_bytes", gpu.total.count()},
              {"used_bytes", gpu.used.count()},
              {"processes", Json::array()}};
    for (const DeviceHolder& holder : gpu.holders)
        json["processes"].push_back({{"process", holder.process},
                                     {"name", holder.name},
                                     {"used_bytes", holder.bytes ? Json(holder.bytes->count()) : Json()}});
    return json;
}

Json topology_json(const Findings& found) {
    if (!found.topology) return nullptr;
    Json json{{"verdict", name_of(found.topology->verdict)}, {"islands", Json::array()}};
    if (found.topology->machine) json["islands"] = islands(*found.topology->machine);
    return json;
}

Json launcher_json(const std::optional<RankPlace>& place) {
    if (!place) return nullptr;
    return {{"name", place->launcher},
            {"rank", place->rank},
            {"world", place->world},
            {"local_rank", place->local_rank < 0 ? Json() : Json(place->local_rank)},
            {"store", to_text(place->store)}};
}

Json document_of(const Findings& found) {
    Json json{{"schema", "wirewise.doctor/1"},
              {"version", WIREWISE_VERSION},
              {"host", {{"cores", found.cores}, {"memory_bytes", found.memory.count()}}},
              {"driver", text_or_null(found.devices.driver)},
              {"driver_cuda", text_or_null(found.devices.cuda_version)},
              {"gpus", Json::array()},
              {"libraries", Json::array()},
              {"backends", {{"host", true}, {"cuda", found.cuda_backend.empty()}}},
              {"cuda_backend_why", text_or_null(found.cuda_backend)},
              {"topology", topology_json(found)},
              {"profile", text_or_null(found.profile)},
              {"environment", Json::object()},
              {"launcher", launcher_json(found.place)},
              {"problems", found.problems},
              {"remarks", found.remarks}};
    for (const DeviceState& gpu : found.devices.gpus) json["gpus"].push_back(gpu_json(gpu));
    for (const LibraryFound& library : found.libraries)
        json["libraries"].push_back({{"name", library.what},
                                     {"file", text_or_null(library.file)},
                                     {"version", text_or_null(library.version)}});
    for (const auto& [name, value] : found.variables) json["environment"][name] = value;
    return json;
}

Table table_of(const Findings& found) {
    Table table{.title = "", .columns = {"<what", "<found"}};
    const auto row = [&](const std::string& what, const std::string& value) {
        table.rows.push_back({what, value.empty() ? "none" : value});
    };
    row("wirewise", WIREWISE_VERSION);
    row("host", fmt::format("{} cores, {}", found.cores, to_text(found.memory)));
    row("NVIDIA driver", found.devices.driver.empty()
                             ? ""
                             : fmt::format("{} (CUDA {})", found.devices.driver, found.devices.cuda_version));
    for (std::size_t i = 0; i < found.devices.gpus.size(); ++i) {
        const DeviceState& gpu = found.devices.gpus[i];
        row(fmt::format("GPU {}", i), fmt::format("{}, {}, {} of {} in use", gpu.name, gpu.bus_id,
                                                  to_text(gpu.used), to_text(gpu.total)));
    }
    if (found.topology && found.topology->machine)
        row("joined by NVLink", fmt::format("{}", fmt::join(islands(*found.topology->machine), ", ")));
    for (const LibraryFound& library : found.libraries)
        row(library.what,
            library.version.empty() ? library.file : fmt::format("{} ({})", library.version, library.file));
    row("run --backend cuda", found.cuda_backend.empty() ? "can be used" : found.cuda_backend);
    row("profile", found.profile);
    row("launcher", found.place
                        ? fmt::format("{}: rank {} of {}, store {}", found.place->launcher, found.place->rank,
                                      found.place->world, to_text(found.place->store))
                        : "");
    for (const auto& [name, value] : found.variables) row(name, value);
    return table;
}

Report report_of(const Findings& found) {
    Report report{.document = document_of(found), .tables = {table_of(found)}, .records = "gpus"};
    report.warnings = found.remarks;
    report.errors = found.problems;
    report.exit_code = found.problems.empty() ? 0 : 2;
    return report;
}

}  // namespace

void add_doctor_command(CommandLine& line) {
    CLI::App& command =
        line.add("doctor", "what this machine has for a run: driver, GPUs, libraries, wires, environment");
    auto output = std::make_shared<OutputOptions>();
    output->add_to(command);
    line.answer(command, *output, [output] { return report_of(look_around()); });
}

}  // namespace wirewise
