#include "model/topology/built_in.hpp"

#include <algorithm>

#include "model/topology/machine_json.hpp"
#include "model/topology/topologies.hpp"

namespace wirewise {
namespace {

std::string_view stem(const EmbeddedFile& file) { return file.name.substr(0, file.name.rfind('.')); }

}  // namespace

std::vector<std::string> built_in_machine_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : built_in_machine_files()) names.emplace_back(stem(file));
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<Machine> built_in_machine(std::string_view name) {
    for (const EmbeddedFile& file : built_in_machine_files())
        if (stem(file) == name)
            return machine_from_json_text(file.text, "topologies/machines/" + std::string(file.name));
    return std::nullopt;
}

}  // namespace wirewise
