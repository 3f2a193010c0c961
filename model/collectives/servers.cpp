#include "model/collectives/servers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/error.hpp"

namespace wirewise {
namespace {

void check(const Machine& machine, const std::vector<std::vector<int>>& groups) {
    std::vector<int> seen_in(static_cast<std::size_t>(machine.gpu_count()), -1);
    for (std::size_t group = 0; group < groups.size(); ++group)
        for (const int gpu : groups[group]) {
            if (gpu < 0 || gpu >= machine.gpu_count())
                throw InputError("gpus", fmt::format("GPU {} is not there", gpu),
                                 fmt::format("{} has GPUs 0 to {}", machine.name, machine.gpu_count() - 1));
            int& seen = seen_in[static_cast<std::size_t>(gpu)];
            if (seen == static_cast<int>(group))
                throw InputError("gpus", fmt::format("GPU {} is named twice", gpu), "name every GPU once");
            seen = static_cast<int>(group);
        }
}

}  // namespace

std::vector<ServerView> views_of_servers(const Machine& machine,
                                         const std::vector<std::vector<int>>& groups) {
    check(machine, groups);
    std::vector<ServerView> servers(static_cast<std::size_t>(machine.servers));
    std::vector<int> last_group(servers.size(), -1);
    std::vector<std::pair<std::size_t, std::size_t>>
        parts;  // of the group at hand: server, place in its view
    for (std::size_t group = 0; group < groups.size(); ++group) {
        parts.clear();
        for (const int gpu : groups[group]) {
            const auto server = static_cast<std::size_t>(machine.server_of(gpu));
            if (last_group[server] != static_cast<int>(group)) {
                last_group[server] = static_cast<int>(group);
                servers[server].emplace_back().ranks = static_cast<int>(groups[group].size());
                parts.emplace_back(server, servers[server].size() - 1);
            }
            servers[server].back().gpus.push_back(gpu % machine.gpus_per_server());
        }
        for (const auto& [server, place] : parts)
            servers[server][place].servers = static_cast<int>(parts.size());
    }
    std::vector<ServerView> kinds;
    for (ServerView& server : servers)
        if (!server.empty() && std::find(kinds.begin(), kinds.end(), server) == kinds.end())
            kinds.push_back(std::move(server));
    return kinds;
}

}  // namespace wirewise
