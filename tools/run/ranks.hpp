// A command whose ranks are processes: started here, or this one is of those that a launcher started.
#pragma once

#include "executor/ranks/launcher.hpp"
#include "executor/ranks/tcp_rendezvous.hpp"
#include "tools/render/report.hpp"
#include "tools/run/rank_options.hpp"

namespace wirewise {

struct RankCommand {
    std::vector<std::string> words = own_command();
    std::vector<std::string> variables;  // K=V: beside this process's own
};
// Starts `world` ranks of a command, this very one unless another is given, and waits for them; rank 0 writes
// the report. Throws RunEnded.
Report launch_ranks(const RankOptions& options, int world, const RankCommand& command = {});

// Joins the run and does the rank's part of it. What it throws ends the run for all ranks; a rank that our
// launcher started leaves the message to the launcher.
using RankWork = std::function<Report(TcpRendezvous&)>;
Report run_as_rank(const RankPlace& place, const RankOptions& options, const RankWork& work);

}  // namespace wirewise
