// Every file of the shared corpus gives its verdict and exactly the values its index states.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "model/topology/import.hpp"
#include "model/topology/json_view.hpp"

namespace wirewise {
namespace {

std::filesystem::path shared_folder() {
    const char* const named = std::getenv("WIREWISE_SHARED");
    return named ? std::filesystem::path(named)
                 : std::filesystem::path(WIREWISE_SOURCE_FOLDER) / ".." / "shared";
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Json corpus_index() {
    const auto path = shared_folder() / "topology_corpus" / "index.json";
    return std::filesystem::exists(path) ? Json::parse(read(path)) : Json();
}

ImportResult import_file(const std::string& file) {
    return import_machine(read(shared_folder() / "topology_corpus" / file));
}

bool is_ok(const std::string& verdict) { return verdict.starts_with("ok"); }

using Pair = std::pair<std::string, std::string>;

std::map<Pair, std::string> classes_of(const TopologyFacts& facts) {
    std::map<Pair, std::string> classes;
    for (const PairFacts& pair : facts.pairs)
        classes[{pair.a, pair.b}] = classes[{pair.b, pair.a}] = pair.path;
    return classes;
}

std::set<std::vector<int>> nvlink_pairs(const TopologyFacts& facts) {
    std::set<std::vector<int>> pairs;
    for (const PairFacts& pair : facts.pairs)
        if (pair.nvlinks > 0)
            pairs.insert({std::stoi(pair.a.substr(3)), std::stoi(pair.b.substr(3)), pair.nvlinks});
    return pairs;
}

std::set<std::vector<int>> expected_pairs(const Json& expected, int gpus) {
    std::set<std::vector<int>> pairs;
    if (expected.is_array()) {
        for (const Json& pair : expected) pairs.insert(pair.get<std::vector<int>>());
        return pairs;
    }
    for (int a = 0; a < gpus; ++a)
        for (int b = a + 1; b < gpus; ++b) pairs.insert({a, b, expected.at("count").get<int>()});
    return pairs;
}

void expect_affinities(const TopologyFacts& facts, const Json& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        for (const auto& [heading, text] : facts.gpus[i].affinity) {
            const Json wanted = expected[i].is_null() ? Json() : expected[i].value(heading, Json());
            EXPECT_EQ(text ? Json(*text) : Json(), wanted) << facts.gpus[i].id << " " << heading;
        }
}

TEST(Corpus, TextsGiveTheirVerdictAndValues) {
    const Json index = corpus_index();
    if (index.is_null()) GTEST_SKIP() << "no corpus: set WIREWISE_SHARED";
    for (const Json& entry : index.at("text")) {
        const std::string file = entry.at("file"), verdict = entry.at("verdict");
        SCOPED_TRACE(file);
        const ImportResult result = import_file(file);
        const std::string got(name_of(result.verdict));
        EXPECT_TRUE(got == verdict || (is_ok(got) && is_ok(verdict))) << got << " instead of " << verdict;
        if (!entry.contains("expected") || entry.at("expected").is_null()) continue;
        const Json& expected = entry.at("expected");
        EXPECT_EQ(result.facts.gpus.size(), expected.at("n_gpus").get<std::size_t>());
        EXPECT_EQ(result.facts.nics.size(), expected.at("n_nics").get<std::size_t>());
        EXPECT_EQ(nvlink_pairs(result.facts),
                  expected_pairs(expected.at("nvlink_pairs"), expected.at("n_gpus")));
        EXPECT_EQ(Json(result.facts.islands), expected.at("nvlink_islands"));
        const auto classes = classes_of(result.facts);
        for (const auto& [key, path] : expected.at("sample_pairs").items()) {
            const auto dash = key.find('-');
            const auto found = classes.find({key.substr(0, dash), key.substr(dash + 1)});
            ASSERT_NE(found, classes.end()) << key;
            EXPECT_EQ(found->second, path.get<std::string>()) << key;
        }
        if (expected.contains("gpu_affinity")) expect_affinities(result.facts, expected.at("gpu_affinity"));
        if (!expected.contains("nic_legend")) continue;
        for (const NicFacts& nic : result.facts.nics)
            EXPECT_EQ(nic.name, expected.at("nic_legend").value(nic.id, nic.id));
    }
}

// The graph says what the matrix prints, whatever switches and host bridges had to be made up for it.
TEST(Corpus, GraphsReprintTheirMatrix) {
    const Json index = corpus_index();
    if (index.is_null()) GTEST_SKIP() << "no corpus: set WIREWISE_SHARED";
    int machines = 0;
    for (const Json& entry : index.at("text")) {
        SCOPED_TRACE(entry.at("file").get<std::string>());
        const ImportResult result = import_file(entry.at("file"));
        if (!result.machine) continue;
        ++machines;
        std::map<std::string, std::string> id_of_name;
        for (const NicFacts& nic : result.facts.nics) id_of_name[nic.name] = nic.id;
        const auto printed = classes_of(result.facts);
        const TopologyFacts graph = facts_of(*result.machine);
        const auto id = [&](const std::string& graph_id) {
            if (graph_id.starts_with("GPU")) return graph_id;
            return id_of_name.at(graph.nics[static_cast<std::size_t>(std::stoi(graph_id.substr(3)))].name);
        };
        for (const PairFacts& pair : graph.pairs)
            if (const auto cell = printed.find({id(pair.a), id(pair.b)}); cell != printed.end()) {
                EXPECT_EQ(pair.path, cell->second) << pair.a << " " << pair.b;
            }
        EXPECT_EQ(graph.islands, result.facts.islands);
    }
    EXPECT_GT(machines, 40);
}

std::set<std::set<std::string>> islands_by_busid(const TopologyFacts& facts) {
    std::set<std::set<std::string>> islands;
    for (const std::vector<int>& island : facts.islands) {
        std::set<std::string> busids;
        for (const int gpu : island) busids.insert(facts.gpus[static_cast<std::size_t>(gpu)].busid);
        islands.insert(std::move(busids));
    }
    return islands;
}

TEST(Corpus, XmlFilesGiveTheirVerdictAndDevices) {
    const Json index = corpus_index();
    if (index.is_null()) GTEST_SKIP() << "no corpus: set WIREWISE_SHARED";
    for (const Json& entry : index.at("xml")) {
        const std::string file = entry.at("file"), verdict = entry.at("verdict");
        SCOPED_TRACE(file);
        const ImportResult result = import_file(file);
        const std::string got(name_of(result.verdict));
        EXPECT_TRUE(got == verdict || (is_ok(got) && is_ok(verdict))) << got << " instead of " << verdict;
        const Json& expected = entry.at("expected");
        if (!expected.contains("gpus")) continue;
        const Json& tagged = expected.at("gpus");
        const Json& by_class = expected.at("pci_gpu_class_without_gpu_tag");
        ASSERT_EQ(result.facts.gpus.size(), tagged.size() + by_class.size());
        for (std::size_t i = 0; i < tagged.size(); ++i)
            EXPECT_EQ(result.facts.gpus[i].busid, tagged[i].at("busid").get<std::string>());
        if (!tagged.empty()) {
            std::set<std::set<std::string>> islands;
            for (const Json& island : expected.at("nvlink_islands"))
                islands.insert(island.get<std::set<std::string>>());
            EXPECT_EQ(islands_by_busid(result.facts), islands);
        }
        if (!result.facts.gpus.empty()) {
            EXPECT_EQ(result.facts.nics.size(),
                      expected.at("n_nets").get<std::size_t>() +
                          expected.at("pci_net_class_without_nic_tag").get<std::size_t>());
        }
    }
}

}  // namespace
}  // namespace wirewise
