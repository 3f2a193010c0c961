// The store and its ranks: messages, strangers, and every way in which a run ends early.
#include <gtest/gtest.h>

#include <set>

#include "executor/ranks/agreement.hpp"
#include "executor/ranks/message.hpp"
#include "executor/ranks/silence.hpp"
#include "model/units/error.hpp"
#include "tests/ranks/together.hpp"

namespace wirewise {
namespace {

using namespace std::chrono_literals;
using test::OwnStore;
using test::quick_settings;
using test::run_ranks;

std::string text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A rank that says hello and nothing more.
Descriptor mute_rank(const OwnStore& store, int rank) {
    Descriptor socket = connect_to({"127.0.0.1", store.port}, Clock::now() + 2s);
    const std::string hello = encoded(
        {MessageKind::hello, rank, store.settings.world, store.settings.token, store.settings.version});
    send_all(socket, bytes_of(hello), Clock::now() + 2s);
    return socket;
}

std::string ending_of(TcpRendezvous& ranks) try {
    ranks.get("never set");
    return "went on";
} catch (const RunEnded& ended) {
    return ended.what();
}

TEST(Store, PassesMessagesWhoeverComesFirst) {
    const std::string large(300'000, 'x');
    EXPECT_EQ(run_ranks(3,
                        [&](TcpRendezvous& ranks) {
                            if (ranks.rank() == 2) std::this_thread::sleep_for(50ms);
                            ranks.set("from " + std::to_string(ranks.rank()),
                                      bytes_of(ranks.rank() == 1 ? std::string_view(large) : ""));
                            for (const int other : {0, 1, 2})
                                EXPECT_EQ(text_of(ranks.get("from " + std::to_string(other))).size(),
                                          other == 1 ? large.size() : 0U);
                        }),
              test::all_well(3));
}

TEST(Store, TurnsStrangersAway) {
    const OwnStore store(quick_settings(1));
    RankPlace place = store.place(0);
    place.token = "another";
    EXPECT_THROW(TcpRendezvous(place, store.settings), RunEnded);
    const Descriptor noise = connect_to({"127.0.0.1", store.port}, Clock::now() + 2s);
    send_all(noise, bytes_of(std::string(10'000, '\xff')), Clock::now() + 2s);
    TcpRendezvous own(store.place(0), store.settings);
    own.leave();
    EXPECT_FALSE(store.store->ending());
}

TEST(Store, RefusesRanksThatDoNotFit) {
    const auto refusal = [](int rank, int world, const std::string& version) {
        const OwnStore store(quick_settings(2));
        TcpRendezvous first(store.place(0), store.settings);
        RankPlace place = store.place(rank);
        place.world = world;
        RunSettings settings = store.settings;
        settings.version = version;
        try {
            TcpRendezvous second(place, settings);
            return std::string("came");
        } catch (const RunEnded& ended) {
            EXPECT_EQ(ended.exit_code(), 2);
            EXPECT_NE(ending_of(first).find("rank " + std::to_string(rank)), std::string::npos);
            return ended.why();
        }
    };
    EXPECT_NE(refusal(1, 3, "1").find("one of 3 ranks, the run has 2"), std::string::npos);
    EXPECT_NE(refusal(1, 2, "2").find("is wirewise 2, the run is wirewise 1"), std::string::npos);
    EXPECT_NE(refusal(0, 2, "1").find("was started twice"), std::string::npos);
    EXPECT_EQ(refusal(1, 2, "1"), "came");
}

TEST(Store, EndsTheRunOfARankThatFails) {
    const auto failures = run_ranks(3, [](TcpRendezvous& ranks) {
        if (ranks.rank() == 1) throw std::runtime_error("no more memory");
        ranks.get("never set");
    });
    EXPECT_EQ(failures, (std::vector<std::string>{"rank 1: no more memory", "no more memory",
                                                  "rank 1: no more memory"}));
}

TEST(Store, NamesTheLastPlaceOfARankThatVanishes) {
    const OwnStore store(quick_settings(2));
    TcpRendezvous ranks(store.place(0), store.settings);
    {
        const Descriptor other = mute_rank(store, 1);
        send_all(other, bytes_of(encoded({MessageKind::alive, 0, 0, "", "step 7"})), Clock::now() + 2s);
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_EQ(ending_of(ranks), "rank 1: its connection closed; last heard of in step 7");
}

TEST(Store, EndsTheRunOfARankThatIsSilent) {
    const OwnStore store(quick_settings(2));
    TcpRendezvous ranks(store.place(0), store.settings);
    const Descriptor other = mute_rank(store, 1);
    const auto begin = Clock::now();
    EXPECT_EQ(ending_of(ranks), "rank 1: has not been heard for 2 s: it hangs, or its host does");
    EXPECT_LT(Clock::now() - begin, 5s);
}

TEST(Store, NamesThoseWhoDoNotCome) {
    RunSettings settings = quick_settings(4);
    settings.join = 500ms;
    const OwnStore store(settings);
    TcpRendezvous ranks(store.place(2), settings);
    EXPECT_EQ(ending_of(ranks), "rank 0: has not come within 0.5 s (absent of 4 ranks: 0, 1, 3)");
}

TEST(Rendezvous, SaysWhenNobodyKeepsTheStore) {
    RankPlace place{.rank = 1, .world = 2, .local_rank = 0, .store = {"127.0.0.1", 1}};
    RunSettings settings = quick_settings(2);
    settings.join = 300ms;
    try {
        TcpRendezvous ranks(place, settings);
        FAIL() << "joined nothing";
    } catch (const RunError& error) {
        EXPECT_NE(
            std::string(error.what()).find("rank 1: cannot join the run: nobody answers at 127.0.0.1:1"),
            std::string::npos)
            << error.what();
    }
}

TEST(Rendezvous, NoticesThatTheStoreIsGone) {
    std::optional<OwnStore> store(std::in_place, quick_settings(2));
    TcpRendezvous ranks(store->place(0), store->settings);
    store.reset();
    EXPECT_EQ(ending_of(ranks), "rank 0: the launcher closed its connection");
}

TEST(Rendezvous, ActsForWhoIsStuck) {
    const OwnStore store(quick_settings(2));
    TcpRendezvous ranks(store.place(0), store.settings);
    std::atomic<int> code = 0;
    ranks.when_stuck([&](const Ending& ending) { code = ending.exit_code; });
    TcpRendezvous(store.place(1), store.settings).fail(4, "broke");
    for (int i = 0; i < 100 && code == 0; ++i) std::this_thread::sleep_for(50ms);
    EXPECT_EQ(code, 4);
}

TEST(Rendezvous, CountsRanksOfThisHostWhereNobodySaysThem) {
    const OwnStore store(quick_settings(3));
    std::vector<std::thread> threads;
    std::array<int, 3> local_ranks{};
    for (int rank = 0; rank < 3; ++rank)
        threads.emplace_back([&, rank] {
            RankPlace place = store.place(rank);
            place.local_rank = -1;
            TcpRendezvous ranks(place, store.settings);
            local_ranks[static_cast<std::size_t>(rank)] = ranks.local_rank();
            ranks.leave();
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(local_ranks, (std::array{0, 1, 2}));
}

TEST(Agreement, NamesTheFactTheRankAndBothValues) {
    const auto failures = run_ranks(3, [](TcpRendezvous& ranks) {
        agree(ranks, {{"model", "llama"}, {"strategy", ranks.rank() == 2 ? "ddp" : "fsdp"}});
        ADD_FAILURE() << "rank " << ranks.rank() << " went on";
    });
    for (const std::string& failure : failures)
        EXPECT_NE(failure.find("strategy: rank 2 has ddp, rank 0 has fsdp"), std::string::npos) << failure;
    EXPECT_EQ(run_ranks(3,
                        [](TcpRendezvous& ranks) {
                            agree(ranks, {{"a", ""}, {"b", "2"}});
                        }),
              test::all_well(3));
    EXPECT_NE(run_ranks(2,
                        [](TcpRendezvous& ranks) {
                            if (ranks.rank() == 0)
                                agree(ranks, {{"a", "1"}, {"b", "2"}});
                            else
                                agree(ranks, {{"a", "1"}});
                        })[1]
                  .find("b: rank 1 has nothing, rank 0 has 2"),
              std::string::npos);
}

// A process that was itself stopped does not hold the time against the others.
TEST(Silence, DoesNotCountItsOwnAbsence) {
    Silence silence;
    const auto start = Silence::Clock::now();
    silence.tick(start, 100ms);
    silence.tick(start + 1h, 100ms);
    EXPECT_EQ(silence.length(), 200ms);
    silence.heard();
    silence.tick(start + 1h + 50ms, 100ms);
    EXPECT_EQ(silence.length(), 50ms);
}

TEST(Messages, ArriveInPiecesAndRefuseNonsense) {
    const std::string text = encoded({MessageKind::set, 1, 2, "key", "value"});
    MessageReader reader(100);
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        reader.take(bytes_of(text).subspan(i, 1));
        EXPECT_FALSE(reader.next());
    }
    reader.take(bytes_of(text + text).subspan(text.size() - 1));
    EXPECT_EQ(reader.next()->value, "value");
    EXPECT_EQ(reader.next()->key, "key");
    EXPECT_FALSE(reader.next());
    reader.take(bytes_of(encoded({MessageKind::set, 1, 2, "key", std::string(101, 'x')})));
    EXPECT_THROW(reader.next(), NetworkError);
}

}  // namespace
}  // namespace wirewise
