// Ranks as processes, as users meet them: started by `run`, or by a launcher's variables on loopback; and
// every fault that ends a run: a rank that is killed, stops, cannot allocate, differs or does not come.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/cli/folder.hpp"
#include "tests/cli/job.hpp"

namespace wirewise {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::string kModel = std::string(WIREWISE_SOURCE_FOLDER) + "/tests/host/fixtures/llama_tiny";
constexpr double kLongest = 30;  // the limit for the end of a failed run; usually it is a few seconds

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

const Words kExact{"--parameter-dtype", "fp32", "--compute-dtype", "fp32"};
const Words kTraced =
    Words{"run", "--checkpoint", kModel, "--tokens", kModel + "/trace.safetensors"} + kExact;
const Words kEndless{"run",         "--model",   kModel,       "--steps", "100000000", "--sequence-length",
                     "16",          "--quiet",   "--strategy", "fsdp",    "--gpus",    "4",
                     "--processes", "--timeout", "2"};

// As a launcher other than ours would set them.
Words variables_of(int rank, int world, int port) {
    return {fmt::format("RANK={}", rank), fmt::format("WORLD_SIZE={}", world), "MASTER_ADDR=localhost",
            fmt::format("MASTER_PORT={}", port)};
}
// Apart from those of other tests that run at the same time.
int own_port(int number) { return 20000 + (getpid() * 8 + number) % 10000; }

void expect_gone(const std::vector<pid_t>& processes) {
    for (int i = 0; i < 100; ++i) {
        if (std::none_of(processes.begin(), processes.end(), is_running)) return;
        std::this_thread::sleep_for(20ms);
    }
    ADD_FAILURE() << "a rank is left behind";
}

nlohmann::ordered_json losses_of(const Said& run) {
    nlohmann::ordered_json losses;
    EXPECT_EQ(run.exit_code, 0) << run.err;
    for (const auto& step : run.json().at("steps")) losses.push_back(step.at("loss"));
    return losses;
}

TEST(Ranks, OfTheLauncherComputeAndSaveWhatThreadsDo) {
    const Folder folder;
    const auto words = [&](const std::string& name) {
        const std::string base = (folder.path / name).string();
        return kTraced + Words{"--strategy",       "hsdp",
                               "--gpus",           "4",
                               "--steps",          "3",
                               "--save",           base,
                               "--save-gradients", base + ".grads",
                               "--trace",          base + ".json"};
    };
    const Said threads = run_binary(words("threads"));
    const Said processes = run_binary(words("processes") + Words{"--processes"});
    EXPECT_EQ(losses_of(processes), losses_of(threads));
    for (const char* const file : {"/model.safetensors", "/config.json", ".grads"})
        EXPECT_TRUE(bytes_of(folder / "processes" + file) == bytes_of(folder / "threads" + file)) << file;
    EXPECT_NE(bytes_of(folder / "processes.json").find("rank 3, measured"), std::string::npos);
}

TEST(Ranks, OfAnotherLauncherAreOneRun) {
    for (const char* const strategy : {"ddp", "fsdp"}) {
        const Words words = kTraced + Words{"--strategy", strategy, "--steps", "3"};
        const int port = own_port(0);
        Job second(words, variables_of(1, 2, port)), first(words, variables_of(0, 2, port));
        const Said lead = first.wait(kLongest), other = second.wait(kLongest);
        EXPECT_EQ(losses_of(lead), losses_of(run_binary(words + Words{"--gpus", "2"})));
        EXPECT_EQ(other.exit_code, 0) << other.err;
        EXPECT_EQ(other.out, "");
    }
}

// The fault happens once ranks are at work; the message says where.
Said after(int signal, std::size_t rank, const Words& words = kEndless) {
    Job job(words);
    const std::vector<pid_t> ranks = job.children(4);
    std::this_thread::sleep_for(2500ms);
    EXPECT_LT(rank, ranks.size());
    kill(ranks[rank], signal);
    Said said = job.wait(kLongest);
    expect_gone(ranks);
    return said;
}

TEST(RankFaults, AKilledRankEndsTheRun) {
    for (const std::size_t rank : {2U, 0U}) {
        const Said run = after(SIGKILL, rank);
        EXPECT_EQ(run.exit_code, 4);
        EXPECT_NE(run.err.find(fmt::format("rank {}: killed by signal 9 (Killed); last heard of in", rank)),
                  std::string::npos)
            << run.err;
        EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    }
}

TEST(RankFaults, AStoppedRankEndsTheRun) {
    const Said run = after(SIGSTOP, 1);
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_NE(run.err.find("rank 1: has not been heard for 2 s"), std::string::npos) << run.err;
}

TEST(RankFaults, ARankThatCannotAllocateEndsTheRun) {
    const Words words = kEndless + Words{"--set", "hidden_size=4096", "--set", "intermediate_size=11008"};
    Job job(words, {}, std::uint64_t{1200} << 20);
    const Said run = job.wait(kLongest);
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_NE(run.err.find("rank "), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("cannot allocate"), std::string::npos) << run.err;
}

TEST(RankFaults, AnInterruptEndsAllAndLeavesNothing) {
    const Folder folder;
    for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
        Job job(kEndless + Words{"--save", folder / "saved"});
        const std::vector<pid_t> ranks = job.children(4);
        std::this_thread::sleep_for(1500ms);
        kill(job.process(), signal);
        const Said run = job.wait(kLongest);
        EXPECT_EQ(run.exit_code, code);
        EXPECT_EQ(run.err, "");
        expect_gone(ranks);
        EXPECT_FALSE(fs::exists(folder / "saved"));
    }
}

TEST(RankFaults, AKilledLauncherLeavesNoOrphans) {
    Job job(kEndless);
    const std::vector<pid_t> ranks = job.children(4);
    kill(job.process(), SIGKILL);
    job.wait(kLongest);
    expect_gone(ranks);
}

TEST(RankFaults, ALostRankOfAnotherLauncherEndsTheOthers) {
    Words words = kEndless;
    words[words.size() - 4] = "3";  // --gpus
    words.erase(words.end() - 3);   // --processes
    const int port = own_port(1);
    Job first(words, variables_of(0, 3, port)), second(words, variables_of(1, 3, port)),
        third(words, variables_of(2, 3, port));
    std::this_thread::sleep_for(3s);
    kill(third.process(), SIGKILL);
    for (Job* const job : {&first, &second}) {
        const Said run = job->wait(kLongest);
        EXPECT_EQ(run.exit_code, 4);
        EXPECT_NE(run.err.find("rank 2: its connection closed"), std::string::npos) << run.err;
    }
}

TEST(RankFaults, ALostRankZeroIsNamedToo) {
    Words words = kEndless;
    words[words.size() - 4] = "2";
    words.erase(words.end() - 3);
    const int port = own_port(2);
    Job first(words, variables_of(0, 2, port)), second(words, variables_of(1, 2, port));
    std::this_thread::sleep_for(3s);
    kill(first.process(), SIGSTOP);
    const Said run = second.wait(kLongest);
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_NE(run.err.find("rank 0: it keeps the run's store"), std::string::npos) << run.err;
}

TEST(RankFaults, RanksThatDifferAreRefused) {
    const auto refusal = [](const Words& more, int number) {
        const Words words = kTraced + Words{"--steps", "1", "--strategy", "ddp"};
        const int port = own_port(number);
        Job first(words, variables_of(0, 2, port)), second(words + more, variables_of(1, 2, port));
        const Said lead = first.wait(kLongest), other = second.wait(kLongest);
        EXPECT_EQ(lead.exit_code, 2) << lead.err;
        EXPECT_EQ(other.exit_code, 2) << other.err;
        EXPECT_EQ(lead.out, "");
        return lead.err;
    };
    EXPECT_NE(refusal({"--gradient-accumulation", "2"}, 3).find("rank 1 has 2, rank 0 has 4"),
              std::string::npos);
    EXPECT_NE(refusal({"--learning-rate", "0.5"}, 4).find("rank 1 has 0.5"), std::string::npos);
    EXPECT_NE(refusal({"--gpus", "3"}, 5).find("do not make the 2 ranks"), std::string::npos);
}

TEST(RankFaults, RanksThatDoNotComeAreNamed) {
    const Words words = kTraced + Words{"--steps", "1", "--join-timeout", "1"};
    Job alone(words, variables_of(0, 2, own_port(6)));
    const Said run = alone.wait(kLongest);
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_NE(run.err.find("rank 1: has not come within 1 s"), std::string::npos) << run.err;
    Job later(words, variables_of(1, 2, own_port(7)));
    const Said lost = later.wait(kLongest);
    EXPECT_EQ(lost.exit_code, 4);
    EXPECT_NE(lost.err.find("nobody answers at localhost"), std::string::npos) << lost.err;
}

TEST(RankFaults, BadInputIsSaidOnceBeforeRanksStart) {
    const Folder folder;
    fs::copy(kModel, folder / "model");
    fs::permissions(folder / "model/model.safetensors", fs::perms::owner_write, fs::perm_options::add);
    fs::resize_file(folder / "model/model.safetensors", 500'000);
    const Said run = run_binary({"run", "--checkpoint", folder / "model", "--gpus", "2", "--processes"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("it is truncated"), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run_binary({"run", "--model", kModel, "--processes", "--timeout", "never"}).exit_code, 2);
}

TEST(RankFaults, HalfALauncherIsRefused) {
    Job half(kTraced, {"RANK=0"});
    const Said run = half.wait(kLongest);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("WORLD_SIZE: is missing"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace wirewise
