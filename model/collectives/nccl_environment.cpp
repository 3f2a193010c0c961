#include "model/collectives/nccl_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string>

#include "model/collectives/tuning.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

std::string upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

bool parse_switch(std::string_view value, std::string_view name, std::string_view place) {
    if (value == "0" || value == "1") return value == "1";
    throw InputError(std::string(place), fmt::format("{}={} is not a switch", name, value), "write 0 or 1");
}

int parse_count(std::string_view value, std::string_view name, std::string_view place) {
    int count = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (error != std::errc() || end != value.data() + value.size() || count < 1 || count > 64)
        throw InputError(std::string(place), fmt::format("{}={} is not a number of channels", name, value),
                         "write a whole number from 1 to 64");
    return count;
}

// NCCL's names and its old digits (0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and more SYS). SYS lets everything pass.
PathClass parse_level(std::string_view value, std::string_view place) {
    constexpr std::array<std::pair<std::string_view, PathClass>, 13> kLevels{{{"LOC", PathClass::self},
                                                                              {"NVL", PathClass::nvlink},
                                                                              {"PIX", PathClass::pix},
                                                                              {"PXB", PathClass::pxb},
                                                                              {"PHB", PathClass::phb},
                                                                              {"NODE", PathClass::phb},
                                                                              {"SYS", PathClass::sys},
                                                                              {"0", PathClass::self},
                                                                              {"1", PathClass::pix},
                                                                              {"2", PathClass::pxb},
                                                                              {"3", PathClass::phb},
                                                                              {"4", PathClass::sys},
                                                                              {"5", PathClass::sys}}};
    const std::string name = upper(value);
    for (const auto& [level, path] : kLevels)
        if (level == name) return path;
    throw InputError(std::string(place), fmt::format("NCCL_P2P_LEVEL={} is not a path class", value),
                     "write LOC, NVL, PIX, PXB, PHB or SYS");
}

// "Ring,Tree" or "^NVLS,NVLSTree" over the names there are.
std::vector<std::string> parse_choices(std::string_view value, std::span<const std::string_view> known,
                                       std::string_view name, std::string_view place) {
    const bool excludes = value.starts_with('^');
    std::string_view rest = excludes ? value.substr(1) : value;
    std::vector<std::string_view> named;
    while (true) {
        const std::string_view word = rest.substr(0, rest.find(','));
        const auto found = std::find_if(known.begin(), known.end(), [&](std::string_view choice) {
            return upper(choice) == upper(word);
        });
        if (found == known.end())
            throw InputError(std::string(place),
                             fmt::format("{}={}: '{}' is not modelled", name, value, word),
                             fmt::format("write some of {}, separated by commas; a leading ^ leaves them out",
                                         fmt::join(known, ", ")));
        named.push_back(*found);
        if (word.size() == rest.size()) break;
        rest.remove_prefix(word.size() + 1);
    }
    std::vector<std::string> chosen;
    for (const std::string_view choice : known)
        if ((std::find(named.begin(), named.end(), choice) != named.end()) != excludes)
            chosen.emplace_back(choice);
    return chosen;
}

bool contains_or_empty(const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool NcclEnvironment::allows(std::string_view algorithm_name, std::string_view protocol_name) const {
    return contains_or_empty(algorithms, algorithm_name) && contains_or_empty(protocols, protocol_name);
}

bool NcclEnvironment::set(std::string_view assignment, std::string_view place) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0)
        throw InputError(std::string(place), fmt::format("'{}' is not an assignment", assignment),
                         "write NAME=VALUE, for example NCCL_P2P_DISABLE=1");
    const std::string_view name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
    if (name == "NCCL_P2P_DISABLE")
        p2p_disable = parse_switch(value, name, place);
    else if (name == "NCCL_SHM_DISABLE")
        shm_disable = parse_switch(value, name, place);
    else if (name == "NCCL_IB_DISABLE")
        ib_disable = parse_switch(value, name, place);
    else if (name == "NCCL_P2P_LEVEL")
        p2p_level = parse_level(value, place);
    else if (name == "NCCL_ALGO")
        algorithms = parse_choices(value, kAlgorithmNames, name, place);
    else if (name == "NCCL_PROTO")
        protocols = parse_choices(value, kProtocolNames, name, place);
    else if (name == "NCCL_MIN_NCHANNELS")
        min_channels = parse_count(value, name, place);
    else if (name == "NCCL_MAX_NCHANNELS")
        max_channels = parse_count(value, name, place);
    else if (name == "NCCL_NVLS_ENABLE")
        nvls = value == "2" || parse_switch(value, name, place);  // 2: where possible
    else
        return false;
    return true;
}

}  // namespace wirewise
