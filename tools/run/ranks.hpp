// A run whose ranks are processes: started here, or this one is of those that a launcher started.
#pragma once

#include "executor/ranks/tcp_rendezvous.hpp"
#include "tools/render/report.hpp"
#include "tools/run/run_options.hpp"

namespace wirewise {

// Starts `world` ranks of this very command and waits for them; rank 0 writes the report. Throws RunEnded.
Report launch_ranks(const RunOptions& options, int world);

// Joins the run and does the rank's part of it. What it throws ends the run for all ranks; a rank that our
// launcher started leaves the message to the launcher.
using RankWork = std::function<Report(TcpRendezvous&)>;
Report run_as_rank(const RankPlace& place, const RunOptions& options, const RankWork& work);

}  // namespace wirewise
