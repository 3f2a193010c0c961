#include "model/transformer/builtin.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "model/units/embedded.hpp"
#include "model/units/near.hpp"

namespace wirewise {

std::span<const EmbeddedFile> builtin_model_files();  // of the folder builtin/

namespace {
std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::vector<Builtin> parsed() {
    std::vector<Builtin> all;
    for (const auto& entry : nlohmann::json::parse(builtin_model_files().front().text))
        all.push_back({entry.at("name"), entry.at("repository"), entry.at("source"), entry.at("config")});
    return all;
}
}  // namespace

const std::vector<Builtin>& builtin_table() {
    static const std::vector<Builtin> all = parsed();
    return all;
}

const Builtin* find_builtin(std::string_view name) {
    const std::string wanted = lower(name);
    const auto found = std::ranges::find_if(builtin_table(), [&](const Builtin& entry) {
        return entry.name == wanted || lower(entry.repository) == wanted;
    });
    return found == builtin_table().end() ? nullptr : &*found;
}

std::vector<std::string> near_builtins(std::string_view name) {
    constexpr std::size_t kSuggestions = 3, kLongest = 80;
    const std::string wanted = lower(name.substr(0, kLongest));
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const auto& entry : builtin_table())
        ranked.emplace_back(edit_distance(wanted, entry.name), entry.name);
    std::ranges::sort(ranked);
    std::vector<std::string> near;
    for (const auto& [steps, candidate] : ranked)
        if (near.size() < kSuggestions && steps <= std::max<std::size_t>(3, wanted.size() / 2))
            near.push_back(candidate);
    return near;
}

}  // namespace wirewise
