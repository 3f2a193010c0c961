// One process's part of a run: what it computes, checks and writes.
#pragma once

#include "executor/ranks/tcp_rendezvous.hpp"
#include "tools/interrupt.hpp"
#include "tools/render/report.hpp"
#include "tools/run/backend.hpp"

namespace wirewise {

// All ranks where `ranks` is null, else one of them. The report is rank 0's.
Report train_and_report(const RunOptions& options, const RunInputs& inputs, Backend& backend,
                        TcpRendezvous* ranks, const InterruptWatch& interrupt);

}  // namespace wirewise
