#include "calibration/published_cases.hpp"

#include <span>

#include <nlohmann/json.hpp>

#include "model/units/embedded.hpp"
#include "model/units/error.hpp"

namespace wirewise {

std::span<const EmbeddedFile> published_case_files();  // compiled in, see tools/cmake/embed.cmake

namespace {

using Json = nlohmann::json;

PublishedMachine machine_of(const Json& row) {
    const Json& machine = row.at("machine");
    return {row.at("hardware"), row.value("wiring", ""),
            machine.is_string() ? machine.get<std::string>() : machine.dump(), row.value("fabric", ""),
            row.value("fabric_nics", false)};
}

PublishedCases read_cases() {
    ensure(published_case_files().size() == 1, "one file of published cases is compiled in");
    const Json json = Json::parse(published_case_files().front().text);
    PublishedCases cases;
    for (const Json& row : json.at("machines")) cases.machines.push_back(machine_of(row));
    for (const Json& row : json.at("gpus")) cases.gpus.push_back({row.at("hardware"), row.at("gpu")});
    for (const Json& row : json.at("set_aside"))
        cases.set_aside.push_back({row.at("source"), row.at("reason")});
    return cases;
}

}  // namespace

const PublishedCases& published_cases() {
    static const PublishedCases cases = read_cases();
    return cases;
}

}  // namespace wirewise
