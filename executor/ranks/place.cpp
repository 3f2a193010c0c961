#include "executor/ranks/place.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "model/units/error.hpp"

namespace wirewise {

namespace {

// The variables in which a kind of launcher says who a process is; empty: it does not say.
struct LauncherKind {
    const char *name, *rank, *world, *local_rank, *local_world;
    const char* job;  // what tells runs apart
};
// The first kind whose variables are there is believed. PMIx has no variable for the number of ranks.
constexpr std::array<LauncherKind, 5> kKinds{{
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"Hydra (MPICH, Intel MPI)", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", "SLURM_JOB_ID"},
    {"PMIx", "PMIX_RANK", "WORLD_SIZE", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE", "PMIX_NAMESPACE"},
}};

constexpr int kFirstPort = 20000, kPorts = 20000;  // where no port is given: below Linux's ephemeral ones

class Reader {
  public:
    Reader(const Environment& environment, const LauncherKind& kind)
        : environment_(environment), kind_(kind) {}

    RankPlace place() const {
        RankPlace place{.rank = number(kind_.rank, 0),
                        .world = number(kind_.world, 1),
                        .local_rank = has(kind_.local_rank) ? number(kind_.local_rank, 0) : -1,
                        .local_world = has(kind_.local_world) ? number(kind_.local_world, 1) : -1,
                        .token = text(kTokenVariable, text(kind_.job)),
                        .launcher = text(kLauncherVariable, kind_.name),
                        .launched_by_us = has(kLauncherVariable)};
        require_below(place.rank, kind_.rank, place.world, kind_.world);
        if (place.local_world > 0)
            require_below(place.local_rank, kind_.local_rank, place.local_world, kind_.local_world);
        place.store = {host(place), port(place)};
        return place;
    }

  private:
    bool has(const char* name) const { return *name && environment_(name) && *environment_(name); }
    std::string text(const char* name, const std::string& otherwise = {}) const {
        return has(name) ? environment_(name) : otherwise;
    }

    [[noreturn]] void refuse_absent(const std::string& name) const {
        throw InputError(
            name, fmt::format("is missing, though {} variables say that this process is a rank", kind_.name),
            fmt::format("set it, or unset {} and {} to run without them", kind_.rank, kind_.world));
    }

    int number(const char* name, int least) const {
        if (!has(name)) refuse_absent(name);
        const std::string word = environment_(name);
        int value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size() || value < least)
            throw InputError(name, fmt::format("\"{}\" is no whole number of at least {}", word, least),
                             "start the ranks with a launcher, or set its variables as one does");
        return value;
    }

    static void require_below(int value, const char* name, int limit, const char* limit_name) {
        if (value >= limit)
            throw InputError(name, fmt::format("{} is not below {} {}", value, limit_name, limit),
                             "number the ranks from 0");
    }

    // Where rank 0 runs. All ranks on one host need not be told.
    std::string host(const RankPlace& place) const {
        if (has("MASTER_ADDR")) return text("MASTER_ADDR");
        if (has("SLURM_STEP_NODELIST")) return first_host(text("SLURM_STEP_NODELIST"));
        if (has("SLURM_JOB_NODELIST")) return first_host(text("SLURM_JOB_NODELIST"));
        if (has("SLURM_NODELIST")) return first_host(text("SLURM_NODELIST"));
        if (has("SLURM_LAUNCH_NODE_IPADDR")) return text("SLURM_LAUNCH_NODE_IPADDR");
        if (place.world == 1 || place.local_world == place.world) return "127.0.0.1";
        refuse_absent("MASTER_ADDR");
    }

    // Derived from the job where no port is given, so that all ranks come to the same one. Under torchrun
    // MASTER_PORT may be where its own agent listens; the next one is ours then.
    int port(const RankPlace& place) const {
        constexpr int kMost = 65535;
        if (has("MASTER_PORT")) {
            const bool agent = text("TORCHELASTIC_USE_AGENT_STORE") == "True";
            const int port = number("MASTER_PORT", 1) + (agent ? 1 : 0);
            require_below(port, "MASTER_PORT", kMost + 1, "the number of ports,");
            return port;
        }
        const std::string job = text(kind_.job) + text("SLURM_STEP_ID");
        if (job.empty() && place.world > 1) refuse_absent("MASTER_PORT");
        std::uint64_t hash = 14695981039346656037U;  // FNV-1a
        for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
        return kFirstPort + static_cast<int>(hash % kPorts);
    }

    const Environment& environment_;
    const LauncherKind& kind_;
};

bool is_set(const Environment& environment, const char* name) {
    const char* const value = environment(name);
    return value && *value;
}

// A shell inside a Slurm allocation has the variables of a rank, but is none: only steps (srun) start ranks.
bool is_shell_of_allocation(const LauncherKind& kind, const Environment& environment) {
    return std::string_view(kind.name) == "Slurm" && is_set(environment, "SLURM_JOB_ID") &&
           !is_set(environment, "SLURM_STEP_ID") && !is_set(environment, "SLURM_STEPID");
}

}  // namespace

std::optional<RankPlace> rank_place(const Environment& environment) {
    for (const bool complete : {true, false})  // half a kind is believed where no kind is whole
        for (const LauncherKind& kind : kKinds) {
            const bool rank = is_set(environment, kind.rank), world = is_set(environment, kind.world);
            if (!(complete ? rank && world : rank || world)) continue;
            if (is_shell_of_allocation(kind, environment)) continue;
            return Reader(environment, kind).place();
        }
    return std::nullopt;
}

std::string first_host(const std::string& node_list) {
    const std::size_t end = node_list.find_first_of(",[");
    if (end == std::string::npos || node_list[end] == ',') return node_list.substr(0, end);
    const std::size_t close = node_list.find(']', end);
    const std::string inside = node_list.substr(end + 1, close - end - 1);
    std::string host = node_list.substr(0, end) + inside.substr(0, inside.find_first_of(",-"));
    if (close == std::string::npos) return host;
    return host + first_host(node_list.substr(close + 1));  // "rack[1-2]node[3-4]"; nothing after a comma
}

}  // namespace wirewise
