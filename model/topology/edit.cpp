#include "model/topology/edit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/topology/machine_json.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

constexpr const char* kOption = "--set-machine";

Json value_of(const std::string& text) {
    Json value = Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json(text) : value;
}

std::string keys_of(const Json& json) {
    std::vector<std::string> keys;
    if (json.is_array()) return fmt::format("0 to {}", static_cast<int>(json.size()) - 1);
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return fmt::format("{}", fmt::join(keys, ", "));
}

// The place the pointer names. Its last step may be a new key of an object, nothing else.
Json& place_of(Json& json, const Json::json_pointer& pointer, const std::string& text) {
    if (pointer.empty())
        throw InputError(kOption, "the whole machine cannot be set", "give a machine file instead");
    const Json::json_pointer parent = pointer.parent_pointer();
    if (!json.contains(parent) || !json[parent].is_structured())
        throw InputError(kOption, fmt::format("\"{}\" leads nowhere in this machine", text),
                         fmt::format("at its top stand {}", keys_of(json)));
    if (json[parent].is_array() && !json.contains(pointer))
        throw InputError(kOption, fmt::format("\"{}\" leads beyond the list", text),
                         fmt::format("there are {}", keys_of(json[parent])));
    return json[pointer];
}

Machine reread(const Machine& machine, const Json& json, std::string_view option) {
    Machine edited = machine_from_json(json, fmt::format("{} of {}", option, machine.name));
    edited.servers = machine.servers;
    edited.fabric = machine.fabric;
    return edited;
}

// Takes a device list out of the tree, wherever it stands.
void drop_key(Json& json, const std::string& key) {
    if (json.is_object()) json.erase(key);
    if (json.is_structured())
        for (Json& child : json) drop_key(child, key);
}

}  // namespace

Machine set_in_machine(const Machine& machine, std::string_view assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || assignment.empty() || assignment.front() != '/')
        throw InputError(kOption, fmt::format("\"{}\" is not POINTER=value", assignment),
                         "write for example /pcie=\"gen4 x16\"");
    const std::string text(assignment.substr(0, equals));
    Json json = to_json(machine);
    try {
        place_of(json, Json::json_pointer(text), text) = value_of(std::string(assignment.substr(equals + 1)));
    } catch (const Json::exception&) {
        throw InputError(kOption, fmt::format("\"{}\" is not a JSON pointer into this machine", text),
                         fmt::format("at its top stand {}", keys_of(json)));
    }
    return reread(machine, json, kOption);
}

Machine machine_without(const Machine& machine, std::string_view what) {
    Json json = to_json(machine);
    if (what == "nvlink") {
        json.erase("nvlink");
    } else if (what == "nvswitch") {
        Json kept = Json::array();
        for (const Json& entry : json.value("nvlink", Json::array()))
            if (!entry.contains("switch")) kept.push_back(entry);
        json["nvlink"] = std::move(kept);
    } else if (what == "p2p") {
        json["pcie_peer_to_peer"] = false;
    } else if (what == "nics") {
        drop_key(json["numa"], "nics");
    } else {
        throw InputError("--without", fmt::format("\"{}\" cannot be taken out", what),
                         "nvlink, nvswitch, p2p or nics");
    }
    return reread(machine, json, "--without");
}

}  // namespace wirewise
