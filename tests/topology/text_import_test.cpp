// topo -m text in the shapes that pastes have. Matrices are typed for these tests.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <random>
#include <sstream>

#include "model/topology/built_in.hpp"
#include "model/units/error.hpp"
#include "tests/topology/paste.hpp"

namespace wirewise {
namespace {

using testing::classes_text;
using testing::paste;
using testing::PasteStyle;
using Islands = std::vector<std::vector<int>>;

constexpr const char* kTwoPairs =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tSYS\tSYS\t0-15\t0\n"
    "GPU1\tNV4\t X \tSYS\tSYS\t0-15\t0\n"
    "GPU2\tSYS\tSYS\t X \tNV4\t16-31\t1\n"
    "GPU3\tSYS\tSYS\tNV4\t X \t16-31\t1\n";

std::vector<PasteStyle> styles() {
    std::vector<PasteStyle> all(10);
    all[1].gap = "    ";
    all[2].gap = " ";
    all[2].affinity = false;
    all[3].header_lead = "";
    all[4].line_start = "    ";
    all[5].line_end = "\r\n";
    all[6].ansi = true;
    all[7].gap = "";  // every name and cell runs together
    all[8].old_sys = "SOC";
    all[9].line_start = "> ";
    all[9].prompt = all[9].legend = false;
    return all;
}

TEST(TopoText, EveryStyleOfEveryMachineGivesTheSameFacts) {
    for (const char* name :
         {"dgx-1-v100", "h200-nvl-8", "h100-nvl-8", "dgx-2", "aws-p5-48xlarge", "rtx-4090-8", "gh200-4"}) {
        const TopologyFacts facts = facts_of(*built_in_machine(name));
        const std::vector<PasteStyle> all = styles();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const ImportResult result = import_machine(paste(facts, all[i]));
            SCOPED_TRACE(std::string(name) + " style " + std::to_string(i));
            EXPECT_TRUE(result.verdict == Verdict::ok || result.verdict == Verdict::ok_with_repair);
            EXPECT_EQ(classes_text(result.facts), classes_text(facts));
            EXPECT_EQ(result.facts.islands, facts.islands);
        }
    }
}

// A spreadsheet's comma, its semicolon, quotes around what holds commas itself.
TEST(TopoText, ReadsSeparatedCells) {
    const std::string plain = classes_text(import_machine(kTwoPairs).facts);
    const auto separated = [](char by, bool quotes) {
        std::string text;
        for (const char c : std::string(kTwoPairs)) text += c == '\t' ? by : c;
        if (quotes) text.replace(text.find("0-15"), 4, "\"0-7,16-23\"");
        return text;
    };
    for (const auto& [by, quotes] : {std::pair{',', false}, {',', true}, {';', false}, {';', true}}) {
        const ImportResult result = import_machine(separated(by, quotes));
        EXPECT_EQ(result.verdict, Verdict::ok_with_repair) << by;
        EXPECT_EQ(classes_text(result.facts), plain) << by;
        EXPECT_EQ(result.repairs,
                  std::vector<std::string>{by == ',' ? "commas between cells taken as gaps"
                                                     : "semicolons between cells taken as gaps"});
        EXPECT_EQ(result.facts.gpus.front().affinity.front().second, quotes ? "0-7,16-23" : "0-15");
    }
}

TEST(TopoText, RaisesSmallLetters) {
    std::string small;
    for (const char c : std::string(kTwoPairs)) small += static_cast<char>(std::tolower(c));
    const ImportResult result = import_machine(small);
    EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
    EXPECT_EQ(classes_text(result.facts), classes_text(import_machine(kTwoPairs).facts));
    EXPECT_EQ(result.repairs, std::vector<std::string>{"small letters of names and cells raised"});
    EXPECT_EQ(result.facts.gpus.back().affinity.front().second, "16-31");
}

TEST(TopoText, SaysWhichCellIsGarbled) {
    std::string text = kTwoPairs;
    text.replace(text.find("NV4\t X \tSYS"), 3, "NV?");
    const ImportResult result = import_machine(text);
    EXPECT_EQ(result.verdict, Verdict::incomplete);
    ASSERT_FALSE(result.missing.empty());
    for (const char* part : {"row GPU1", "line 3", "\"NV?\" under GPU0", "NV4"})
        EXPECT_NE(result.missing.front().find(part), std::string::npos) << result.missing.front();
}

TEST(TopoText, ReadsUtf16WithoutItsMark) {
    for (const bool little : {true, false}) {
        std::string wide;
        for (const char c : std::string(kTwoPairs))
            wide += little ? std::string{c, '\0'} : std::string{'\0', c};
        const ImportResult result = import_machine(wide);
        EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
        EXPECT_EQ(classes_text(result.facts), classes_text(import_machine(kTwoPairs).facts));
        EXPECT_EQ(result.repairs.back(), "UTF-16 without a byte order mark decoded");
    }
}

TEST(TopoText, RepairsAreSaid) {
    PasteStyle fused;
    fused.gap = "";
    const ImportResult result = import_machine(paste(facts_of(*built_in_machine("h200-nvl-8")), fused));
    EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
    EXPECT_EQ(result.repairs.size(), 2U);
}

TEST(TopoText, ReadsAMarkdownTable) {
    const ImportResult result = import_machine(
        "|      | GPU0 | GPU1 | mlx5_0 | CPU Affinity |\n|------|------|------|------|------|\n"
        "| GPU0 | X | NV18 | PIX | 0-7 |\n| GPU1 | NV18 | X | NODE | 0-7 |\n| mlx5_0 | PIX | NODE | X | |\n");
    EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
    EXPECT_EQ(classes_text(result.facts), "GPU0 GPU1 NV18\nGPU0 mlx5_0 PIX\nGPU1 mlx5_0 NODE\n");
}

TEST(TopoText, ReadsColoursWhoseEscapeWasLost) {
    const ImportResult result =
        import_machine("\t[4mGPU0\tGPU1\tCPU Affinity[0m\nGPU0\t X \tPHB\t0-7\nGPU1\tPHB\t X \t0-7\n");
    EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
    EXPECT_EQ(classes_text(result.facts), "GPU0 GPU1 PHB\n");
}

TEST(TopoText, JoinsWrappedLines) {
    const ImportResult result = import_machine(
        "        GPU0    GPU1    NIC0\nNIC1    CPU Affinity\nGPU0     X      NV12    PIX\nNODE    0-7\n"
        "GPU1    NV12     X      NODE\nPIX     0-7\nNIC0    PIX     NODE     X\nNODE\nNIC1    NODE    PIX    "
        " NODE\n X\n");
    EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
    EXPECT_EQ(result.facts.nics.size(), 2U);
    EXPECT_EQ(
        classes_text(result.facts),
        "GPU0 GPU1 NV12\nGPU0 NIC0 PIX\nGPU0 NIC1 NODE\nGPU1 NIC0 NODE\nGPU1 NIC1 PIX\nNIC0 NIC1 NODE\n");
}

TEST(TopoText, TimeStampsInFrontOfTheRows) {
    std::string text;
    std::istringstream lines(kTwoPairs);
    for (std::string line; std::getline(lines, line);) text += "2026-03-01T10:00:00Z stdout F " + line + "\n";
    const ImportResult result = import_machine(text);
    EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
    EXPECT_EQ(result.facts.islands, (Islands{{0, 1}, {2, 3}}));
}

TEST(TopoText, CutTextsAreIncompleteAndInventNothing) {
    const std::string whole = kTwoPairs;
    const ImportResult rows = import_machine(whole.substr(0, whole.find("GPU2\tSYS")));
    EXPECT_EQ(rows.verdict, Verdict::incomplete);
    EXPECT_FALSE(rows.machine);
    EXPECT_EQ(rows.facts.gpus.size(), 4U);
    EXPECT_EQ(rows.facts.pairs.size(), 5U);  // all but GPU2-GPU3
    const ImportResult headless = import_machine(whole.substr(whole.find("GPU0\t X")));
    EXPECT_EQ(headless.verdict, Verdict::incomplete);
    EXPECT_EQ(headless.facts.islands, (Islands{{0, 1}, {2, 3}}));
    const ImportResult header = import_machine(whole.substr(0, whole.find("GPU0\t X")));
    EXPECT_EQ(header.verdict, Verdict::incomplete);
    EXPECT_EQ(header.facts.gpus.size(), 4U);
    EXPECT_TRUE(header.facts.pairs.empty());
    std::vector<std::string> notes;
    try {
        machine_of(rows, "cut.txt", notes);
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(error.problem().find("rows GPU2, GPU3"), std::string::npos) << error.what();
    }
}

TEST(TopoText, ALostCellIsNotFilledByItsNeighbours) {
    std::string text = kTwoPairs;
    text.replace(text.find("GPU1\tNV4\t X"), 9, "GPU1\t");  // row GPU1 lost its first cell
    const ImportResult result = import_machine(text);
    EXPECT_EQ(result.verdict, Verdict::incomplete);
    EXPECT_EQ(result.facts.islands, (Islands{{0, 1}, {2, 3}}));
    EXPECT_EQ(result.facts.pairs.size(), 6U);  // the other rows still say every pair
    const ImportResult cut = import_machine(
        "\tGPU0\tGPU1\tNIC0\tNI\nGPU0\t X \tNV4\tPIX\tNO\nGPU1\tNV4\t X \tSYS\tSY\n"
        "NIC0\tPIX\tSYS\t X \tPI\nNIC1\tNODE\tSYS\tPIX\n");
    EXPECT_EQ(cut.verdict, Verdict::incomplete);
    EXPECT_EQ(classes_text(cut.facts), "GPU0 GPU1 NV4\nGPU0 NIC0 PIX\nGPU1 NIC0 SYS\n");
}

TEST(TopoText, SeveralHostsInOnePaste) {
    const std::string other = "host2:\n\tGPU0\tGPU1\nGPU0\t X \tPIX\nGPU1\tPIX\t X \n";
    const ImportResult result = import_machine("host1:\n" + std::string(kTwoPairs) + other);
    EXPECT_EQ(result.facts.gpus.size(), 4U);
    ASSERT_FALSE(result.warnings.empty());
    EXPECT_NE(result.warnings.front().find("2 matrices"), std::string::npos);
    // A cut first matrix yields to a whole second one.
    EXPECT_EQ(import_machine(std::string(kTwoPairs).substr(0, 90) + "\n" + other).facts.gpus.size(), 2U);
}

TEST(TopoText, PeerAccessMatrixBesideIt) {
    const std::string refused =
        "\tGPU0\tGPU1\tGPU2\tGPU3\n GPU0\tX\tOK\tCNS\tCNS\n GPU1\tOK\tX\tCNS\tCNS\n"
        " GPU2\tCNS\tCNS\tX\tOK\n GPU3\tCNS\tCNS\tOK\tX\n";
    for (const std::string& text : {kTwoPairs + refused, refused + kTwoPairs}) {
        const ImportResult result = import_machine(text);
        ASSERT_TRUE(result.machine);
        EXPECT_EQ(result.machine->pcie_peer_to_peer, std::optional(false));
        EXPECT_EQ(result.facts.islands, (Islands{{0, 1}, {2, 3}}));
    }
    const ImportResult alone = import_machine(refused);
    EXPECT_EQ(alone.verdict, Verdict::reject);
    EXPECT_NE(alone.warnings.front().find("topo -p2p"), std::string::npos);
}

TEST(TopoText, OtherThingsAreRefusedByName) {
    const std::pair<const char*, const char*> others[] = {
        {"", "empty"},
        {"hello", "no matrix"},
        {"NCCL INFO Channel 00/24", "NCCL log"},
        {"bash: nvidia-smi: command not found", "not installed"},
        {"        GPU0  GPU1\nGPU0   0   15\nGPU1   15   0\n", "numbers"},
        {"GPU 0: NVIDIA H200 (UUID: GPU-1)", "nvidia-smi -L"},
        {"<graphs version=\"1\"/>", "NCCL_GRAPH_FILE"},
        {"<topology/>", "hwloc"},
        {"<a><b></a>", "<a>"},
        {"{\"architectures\": []}", "not a wirewise machine"},
    };
    for (const auto& [text, word] : others) {
        const ImportResult result = import_machine(text);
        EXPECT_EQ(result.verdict, Verdict::reject) << text;
        ASSERT_FALSE(result.warnings.empty()) << text;
        EXPECT_NE(result.warnings.front().find(word), std::string::npos) << result.warnings.front();
    }
}

TEST(TopoText, LinkTypesOfAmdAreRefusedThoughTheyBeginWithX) {
    const ImportResult result = import_machine(R"(       GPU0         GPU1
GPU0   0            XGMI
GPU1   XGMI         0
)");
    EXPECT_EQ(result.verdict, Verdict::reject);
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_NE(result.warnings.front().find("rocm-smi"), std::string::npos) << result.warnings.front();
}

TEST(TopoText, KindsAndBusIdsFromAListBesideTheMatrix) {
    const ImportResult result = import_machine(
        "GPU 0: NVIDIA A40 (UUID: GPU-x)\nGPU 1: NVIDIA A40 (UUID: GPU-y)\n"
        "0, 00000000:18:00.0\n1, 00000000:3B:00.0\n\tGPU0\tGPU1\n"
        "GPU0\t X \tNV3\nGPU1\tNV3\t X \n");
    ASSERT_TRUE(result.machine);
    EXPECT_EQ(result.facts.gpus[1].model, "a40");
    EXPECT_EQ(result.facts.gpus[1].busid, "00000000:3B:00.0");
    // An A40 bridge carries four links.
    ASSERT_EQ(result.warnings.size(), 2U);
    EXPECT_NE(result.warnings.front().find("GPU0 shows 3 NVLinks where 4"), std::string::npos);
    ImportHints hints;
    hints.gpu = &gpu_model("rtx-3090");
    EXPECT_EQ(import_machine(kTwoPairs, hints).machine->gpus[0].model, hints.gpu);
}

// What `nvidia-smi topo -m > topo.txt` leaves behind in Windows PowerShell.
TEST(TopoText, ReadsUtf16) {
    for (const bool little : {true, false}) {
        std::string bytes = little ? "\xff\xfe" : "\xfe\xff";
        for (const char c : std::string(kTwoPairs)) {
            if (!little) bytes += '\0';
            bytes += c;
            if (little) bytes += '\0';
        }
        const ImportResult result = import_machine(bytes + "?");  // half a letter at the end
        EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
        EXPECT_EQ(classes_text(result.facts), classes_text(import_machine(kTwoPairs).facts));
        ASSERT_EQ(result.repairs.size(), 1U);
        EXPECT_EQ(result.repairs.front(), "UTF-16 decoded");
    }
    EXPECT_EQ(import_machine(std::string("\xff\xfe\0\0", 4)).verdict, Verdict::reject);
}

// "A100-SXM4-40GB" holds an X, which stands on the diagonal of a matrix.
TEST(TopoText, ProductNamesAreNoRows) {
    std::string list;
    for (const char* kind : {"A100-SXM4-40GB", "Tesla V100-SXM2-32GB", "H100 80GB HBM3"}) {
        list.clear();
        for (int i = 0; i < 4; ++i) list += fmt::format("GPU {}: NVIDIA {} (UUID: GPU-{})\n", i, kind, i);
        for (const std::string& text : {kTwoPairs + list, list + kTwoPairs}) {
            const ImportResult result = import_machine(text);
            EXPECT_EQ(result.verdict, Verdict::ok) << kind;
            EXPECT_TRUE(result.repairs.empty()) << result.repairs.front();
            EXPECT_FALSE(result.facts.gpus[3].model.empty()) << kind;
        }
    }
}

TEST(TopoText, LinkCountsAreThoseOfRealGpus) {
    const auto matrix = [](const std::string& cell, const std::string& affinity = "\t0-7") {
        return "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \t" + cell + affinity + "\nGPU1\t" + cell +
               "\t X \t0-7\n";
    };
    EXPECT_EQ(import_machine(matrix("NV18")).facts.pairs.at(0).nvlinks, 18);
    EXPECT_EQ(import_machine(matrix("NV4", "0-7")).facts.pairs.at(0).nvlinks, 4);  // "NV40-7"
    EXPECT_EQ(import_machine(matrix("NV12", "0-7")).facts.pairs.at(0).nvlinks, 12);
    for (const char* none : {"NV0", "NV99", "NV999", "NV#", "SYSTEM"}) {
        const ImportResult result = import_machine(matrix(none));
        EXPECT_EQ(result.verdict, Verdict::incomplete) << none;
        EXPECT_TRUE(result.facts.pairs.empty()) << none;
    }
}

TEST(TopoText, MoreThanAServerIsNotReadInPart) {
    std::string header, rows;
    for (int i = 0; i < 200; ++i) {
        header += fmt::format("\tGPU{}", i);
        rows += fmt::format("GPU{}", i);
        for (int j = 0; j < 200; ++j) rows += i == j ? "\tX" : "\tSYS";
        rows += "\n";
    }
    const ImportResult result = import_machine(header + "\n" + rows);
    EXPECT_EQ(result.verdict, Verdict::incomplete);
    EXPECT_FALSE(result.machine);
    EXPECT_LT(result.missing.size(), 300U);
}

TEST(TopoText, HugeTextsAreAnsweredAtOnce) {
    std::string rows, words, headers;
    for (int i = 0; i < 200'000; ++i) rows += fmt::format("GPU{}\t X \tSYS\n", i % 10'000);
    for (int i = 0; i < 2'000; ++i) {
        for (int j = 0; j < 1'500; ++j) words += "GPU0 ";
        words += "!\n";
    }
    for (int i = 0; i < 500'000; ++i) headers += "GPU0 GPU1\n";
    for (const std::string* text : {&rows, &words, &headers}) {
        const auto start = std::chrono::steady_clock::now();
        EXPECT_NE(import_machine(*text).verdict, Verdict::ok);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    }
}

TEST(TopoText, SwitchOrBundles) {
    const auto switches = [](const Machine& machine) {
        int count = 0;
        for (auto [node, end] = boost::vertices(machine.graph); node != end; ++node)
            count += machine.graph[*node].kind == NodeKind::nvswitch;
        return count;
    };
    const auto reread = [](const char* name) {
        return *import_machine(paste(facts_of(*built_in_machine(name)))).machine;
    };
    for (const char* name : {"hgx-h100-8", "dgx-a100-8", "dgx-2", "gb200-nvl4", "h200-x2", "hgx-h800-8"})
        EXPECT_EQ(switches(reread(name)), 1) << name;
    for (const char* name :
         {"dgx-1-v100", "h200-nvl-8", "gh200-4", "a100-80gb-x4", "rtx-3090-2", "v100-4", "h100-nvl-8"})
        EXPECT_EQ(switches(reread(name)), 0) << name;
}

// A matrix whose GPUs are renumbered gives the graph with its GPUs renumbered.
TEST(TopoText, RelabelledMatrixGivesTheRelabelledGraph) {
    EXPECT_TRUE(rc::check([] {
        const auto name = *rc::gen::elementOf(built_in_machine_names());
        const Machine machine = *built_in_machine(name);
        if (machine.gpus.size() > 16) return;
        std::vector<int> order(machine.gpus.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
        std::shuffle(order.begin(), order.end(), std::mt19937(*rc::gen::arbitrary<unsigned>()));
        TopologyFacts facts = facts_of(machine);
        const auto renamed = [&](std::string& id) {
            if (id.starts_with("GPU"))
                id = "GPU" + std::to_string(order[static_cast<std::size_t>(std::stoi(id.substr(3)))]);
        };
        for (PairFacts& pair : facts.pairs) renamed(pair.a), renamed(pair.b);
        const ImportResult plain = import_machine(paste(facts_of(machine))),
                           other = import_machine(paste(facts));
        RC_ASSERT(plain.machine && other.machine);
        for (std::size_t a = 0; a < order.size(); ++a)
            for (std::size_t b = 0; b < order.size(); ++b) {
                const int i = static_cast<int>(a), j = static_cast<int>(b);
                RC_ASSERT(path_class_of_gpus(*plain.machine, i, j) ==
                          path_class_of_gpus(*other.machine, order[a], order[b]));
                RC_ASSERT(nvlink_count(*plain.machine, i, j) ==
                          nvlink_count(*other.machine, order[a], order[b]));
            }
    }));
}

}  // namespace
}  // namespace wirewise
