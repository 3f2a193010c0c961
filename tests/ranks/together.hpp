// The ranks of a run side by side, each with a rendezvous of its own over loopback.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/ranks/store.hpp"
#include "executor/ranks/tcp_rendezvous.hpp"

namespace wirewise::test {

inline RunSettings quick_settings(int world) {
    return {.world = world,
            .token = "secret",
            .version = "1",
            .silence = std::chrono::seconds(2),
            .join = std::chrono::seconds(5)};
}

// A store on a free port, and the place of a rank there.
struct OwnStore {
    explicit OwnStore(const RunSettings& of) : settings(of), listener(listen_on({"127.0.0.1", 0})) {
        port = local_end(listener).port;
        store.emplace(std::move(listener), settings);
    }
    RankPlace place(int rank) const {
        return {.rank = rank,
                .world = settings.world,
                .local_rank = rank,
                .local_world = settings.world,
                .store = {"127.0.0.1", port},
                .token = settings.token,
                .launched_by_us = true};
    }
    RunSettings settings;
    Descriptor listener;
    int port = 0;
    std::optional<Store> store;
};

// What each rank threw, by rank; empty where it did not.
inline std::vector<std::string> run_ranks(int world, const std::function<void(TcpRendezvous&)>& work) {
    const OwnStore own(quick_settings(world));
    std::vector<std::string> failures(static_cast<std::size_t>(world));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world; ++rank)
        threads.emplace_back([&, rank] {
            std::string& failure = failures[static_cast<std::size_t>(rank)];
            try {
                TcpRendezvous ranks(own.place(rank), own.settings);
                try {
                    work(ranks);
                    ranks.leave();
                } catch (const RunEnded& ended) {
                    failure = ended.what();
                } catch (const RunError& error) {
                    failure = error.what();
                    ranks.fail(4, error.why());
                } catch (const std::exception& error) {
                    failure = error.what();
                    ranks.fail(4, error.what());
                }
            } catch (const std::exception& error) {
                failure = std::string("did not join: ") + error.what();
            }
        });
    for (std::thread& thread : threads) thread.join();
    return failures;
}

inline std::vector<std::string> all_well(int world) {
    return std::vector<std::string>(static_cast<std::size_t>(world));
}

}  // namespace wirewise::test
