// The store of a run: ranks come to it, leave and read small messages, say that they are alive and where they
// are, and are told when one of them has failed. Lives in the launcher, or in rank 0 where another launcher
// started the ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "executor/ranks/ending.hpp"
#include "executor/ranks/settings.hpp"
#include "executor/ranks/socket.hpp"

namespace wirewise {

class Store {
  public:
    // Serves on a thread of its own.
    Store(Descriptor listener, const RunSettings& settings);
    ~Store();  // once those who are there have been told the last word, or a second has passed
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    // For who sees more than connections: a rank's process has ended. Its last known place is added.
    void rank_ended(int rank, int exit_code, const std::string& how);
    // Ends the run; the first ending counts.
    void end(const Ending& ending);
    std::optional<Ending> ending() const;
    bool has_left(int rank) const;

  private:
    class Server;
    std::unique_ptr<Server> server_;
};

}  // namespace wirewise
