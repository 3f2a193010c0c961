// Who a process is, from the variables of each kind of launcher.
#include "executor/ranks/place.hpp"

#include <gtest/gtest.h>

#include <map>

#include "model/units/error.hpp"

namespace wirewise {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<RankPlace> place_in(const Variables& variables) {
    return rank_place([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

std::string refusal_in(const Variables& variables) {
    try {
        place_in(variables);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

Variables without(Variables variables, const char* name) {
    variables.erase(name);
    return variables;
}

Variables with(Variables variables, const char* name, const char* value) {
    variables[name] = value;
    return variables;
}

const Variables kTorchrun{{"RANK", "5"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "node-a"},
                          {"MASTER_PORT", "29500"},
                          {"TORCHELASTIC_RUN_ID", "job"}};
const Variables kSlurm{{"SLURM_PROCID", "3"},    {"SLURM_NTASKS", "16"},
                       {"SLURM_LOCALID", "3"},   {"SLURM_JOB_NODELIST", "gpu[07-09,12],cpu1"},
                       {"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}};
const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_NAMESPACE", "prterun-1"}};

TEST(Place, IsNoneWithoutALauncher) {
    EXPECT_FALSE(place_in({}));
    EXPECT_FALSE(place_in({{"MASTER_ADDR", "somewhere"}, {"LOCAL_RANK", "0"}}));
}

TEST(Place, ReadsTorchrun) {
    const auto place = place_in(kTorchrun);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->rank, 5);
    EXPECT_EQ(place->world, 8);
    EXPECT_EQ(place->local_rank, 1);
    EXPECT_EQ(place->local_world, 4);
    EXPECT_EQ(to_text(place->store), "node-a:29500");
    EXPECT_EQ(place->launcher, "torchrun");
    EXPECT_FALSE(place->launched_by_us);
    // torchrun's agent listens on the port itself.
    EXPECT_EQ(place_in(with(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True"))->store.port, 29501);
    EXPECT_EQ(place_in(without(kTorchrun, "LOCAL_RANK"))->local_rank, -1);
}

TEST(Place, ReadsSlurm) {
    const auto place = place_in(kSlurm);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->rank, 3);
    EXPECT_EQ(place->world, 16);
    EXPECT_EQ(place->store.host, "gpu07");
    EXPECT_EQ(place->launcher, "Slurm");
    EXPECT_EQ(place->store.port, place_in(with(kSlurm, "SLURM_PROCID", "9"))->store.port);
    EXPECT_NE(place->store.port, place_in(with(kSlurm, "SLURM_JOB_ID", "4712"))->store.port);
    EXPECT_FALSE(place_in(without(kSlurm, "SLURM_STEP_ID"))) << "a batch script is no rank";
}

TEST(Place, ReadsMpirun) {
    const auto place = place_in(kOpenMpi);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->rank, 1);
    EXPECT_EQ(place->store.host, "127.0.0.1");
    EXPECT_EQ(place->launcher, "Open MPI");
    const auto hydra = place_in({{"PMI_RANK", "0"},
                                 {"PMI_SIZE", "4"},
                                 {"MPI_LOCALRANKID", "0"},
                                 {"MPI_LOCALNRANKS", "2"},
                                 {"MASTER_ADDR", "h"},
                                 {"MASTER_PORT", "1"}});
    ASSERT_TRUE(hydra);
    EXPECT_EQ(hydra->local_world, 2);
    // Under Slurm mpirun's own word counts.
    Variables both = kSlurm;
    both.insert(kOpenMpi.begin(), kOpenMpi.end());
    EXPECT_EQ(place_in(both)->launcher, "Open MPI");
}

TEST(Place, RefusesWhatIsHalfSetOrWrong) {
    const std::pair<Variables, const char*> cases[] = {
        {without(kTorchrun, "RANK"), "RANK: is missing"},
        {without(kTorchrun, "WORLD_SIZE"), "WORLD_SIZE: is missing"},
        {without(kTorchrun, "MASTER_ADDR"), "MASTER_ADDR: is missing"},
        {without(without(kTorchrun, "MASTER_PORT"), "TORCHELASTIC_RUN_ID"), "MASTER_PORT: is missing"},
        {with(kTorchrun, "RANK", "8"), "RANK: 8 is not below WORLD_SIZE 8"},
        {with(kTorchrun, "RANK", "-1"), "RANK: \"-1\""},
        {with(kTorchrun, "RANK", "1e9"), "RANK: \"1e9\""},
        {with(kTorchrun, "LOCAL_RANK", "4"), "LOCAL_RANK: 4"},
        {with(kTorchrun, "MASTER_PORT", "70000"), "MASTER_PORT: 70000"},
        {without(kSlurm, "SLURM_NTASKS"), "SLURM_NTASKS: is missing"},
        {with(kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "1"), "OMPI_COMM_WORLD_LOCAL_RANK"},
        {without(kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE"), "MASTER_ADDR: is missing"},
        {{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "n"}}, "WORLD_SIZE: is missing"}};
    for (const auto& [variables, expected] : cases)
        EXPECT_TRUE(refusal_in(variables).starts_with(expected))
            << expected << " in " << refusal_in(variables);
}

TEST(Place, FindsTheFirstHostOfANodeList) {
    EXPECT_EQ(first_host("alone"), "alone");
    EXPECT_EQ(first_host("a,b,c"), "a");
    EXPECT_EQ(first_host("gpu[07-09,12]"), "gpu07");
    EXPECT_EQ(first_host("gpu[3,5-7],x"), "gpu3");
    EXPECT_EQ(first_host("rack[1-2]node[03-04]"), "rack1node03");
    EXPECT_EQ(first_host("n[1-2].cluster,m"), "n1.cluster");
    EXPECT_EQ(first_host("broken[1-"), "broken1");
}

}  // namespace
}  // namespace wirewise
