// Why a run ends before its ranks have left it.
#pragma once

#include <string>

#include "executor/training/run_error.hpp"

namespace wirewise {

struct Ending {
    int rank = 0;  // that ended it
    int exit_code = 4;
    std::string why;
};

// Another rank ended the run, or was found dead.
class RunEnded final : public RunError {
  public:
    explicit RunEnded(const Ending& ending)
        : RunError(ending.rank, ending.why), exit_code_(ending.exit_code) {}
    int exit_code() const { return exit_code_; }

  private:
    int exit_code_;
};

}  // namespace wirewise
