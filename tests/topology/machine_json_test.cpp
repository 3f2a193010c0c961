#include "model/topology/machine_json.hpp"

#include <gtest/gtest.h>

#include "model/topology/built_in.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

using Islands = std::vector<std::vector<int>>;

TEST(BuiltInMachines, EveryOneLoadsAndRoundTrips) {
    EXPECT_GE(built_in_machine_names().size(), 25U);
    for (const std::string& name : built_in_machine_names()) {
        const Machine machine = *built_in_machine(name);
        EXPECT_EQ(machine.name, name);
        EXPECT_FALSE(machine.source.empty()) << name;
        EXPECT_GT(machine.host_memory.count(), 0) << name;
        const std::string text = to_json_text(machine);
        const Machine again = machine_from_json_text(text, name);
        EXPECT_EQ(to_json_text(again), text);
        ASSERT_EQ(again.gpus.size(), machine.gpus.size()) << name;
        EXPECT_EQ(boost::num_edges(again.graph), boost::num_edges(machine.graph)) << name;
        EXPECT_EQ(islands(again), islands(machine)) << name;
        for (int a = 0; a < machine.gpu_count() && a < 16; ++a)
            for (int b = 0; b < machine.gpu_count() && b < 16; ++b) {
                EXPECT_EQ(path_class_of_gpus(again, a, b), path_class_of_gpus(machine, a, b)) << name;
                if (a != b) {
                    EXPECT_EQ(path_rate(again, again.gpu(a).node, again.gpu(b).node),
                              path_rate(machine, machine.gpu(a).node, machine.gpu(b).node));
                }
            }
    }
}

TEST(BuiltInMachines, NoGpuCarriesMoreLinksThanItHas) {
    for (const std::string& name : built_in_machine_names()) {
        const Machine machine = *built_in_machine(name);
        for (const MachineGpu& gpu : machine.gpus) {
            ASSERT_NE(gpu.model, nullptr) << name;
            int links = 0;
            for (auto [link, end] = boost::out_edges(gpu.node, machine.graph); link != end; ++link)
                if (machine.graph[*link].kind == LinkKind::nvlink ||
                    machine.graph[*link].kind == LinkKind::xgmi)
                    links += machine.graph[*link].count;
            EXPECT_LE(links, gpu.model->nvlinks) << name;
        }
    }
}

TEST(BuiltInMachines, AreWiredAsTheirMatricesShow) {
    const Machine nvl = *built_in_machine("h200-nvl-8");
    EXPECT_EQ(islands(nvl), (Islands{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(nvlink_count(nvl, 0, 3), 6);
    EXPECT_EQ(path_class_of_gpus(nvl, 3, 4), PathClass::sys);
    EXPECT_EQ(nvl.cpu, CpuKind::intel_emerald_rapids);
    const Machine pairs = *built_in_machine("h100-nvl-8");
    EXPECT_EQ(path_class(pairs, pairs.gpus[1].node, pairs.nics[0].node), PathClass::phb);
    EXPECT_EQ(path_class(pairs, pairs.gpus[0].node, pairs.nics[0].node), PathClass::node);
    EXPECT_EQ(path_class(pairs, pairs.nics[0].node, pairs.nics[1].node), PathClass::pix);
    const Machine dgx = *built_in_machine("dgx-1-v100");
    EXPECT_EQ(path_class(dgx, dgx.gpus[0].node, dgx.nics[0].node), PathClass::pix);
    EXPECT_EQ(path_class(dgx, dgx.gpus[0].node, dgx.nics[1].node), PathClass::phb);
    EXPECT_EQ(path_class_of_gpus(dgx, 0, 5), PathClass::sys);
    const Machine a100 = *built_in_machine("dgx-a100-8");
    EXPECT_EQ(path_class(a100, a100.gpus[1].node, a100.nics[1].node), PathClass::pxb);
    EXPECT_EQ(islands(a100).size(), 1U);
}

// Each faulty text with the pointer and the word its message must hold.
struct Fault {
    const char* text;
    const char* place;
    const char* problem;
};

TEST(MachineJson, RefusesWithFileAndPointer) {
    const std::string head = R"({"schema": "wirewise.machine/1", "name": "m", "gpu": "a40", )";
    const Fault faults[] = {
        {R"("numa": [{"gpus": [0]}], "host_memory": 64})", "m.json:/host_memory", "no unit"},
        {R"("numa": [{"gpus": [0]}], "nic_rate": "100 parsecs"})", "m.json:/nic_rate", "unit"},
        {R"("numa": [{"gpus": [0, 0]}]})", "m.json:/numa/0/gpus/1", "elsewhere"},
        {R"("numa": [{"gpus": [0, 2]}]})", "m.json:/numa", "GPU 1 is missing"},
        {R"("numa": [{"gpu": [0]}]})", "m.json:/numa", "no GPU"},
        {R"("numa": [{"gpus": [0], "switchs": []}]})", "m.json:/numa/0/switchs", "unknown key"},
        {R"("numa": [{"gpus": [0, 1]}], "nvlink": [{"pair": [0, 5], "links": 4}]})",
         "m.json:/nvlink/0/pair/1", "range"},
        {R"("numa": [{"gpus": [0, 1]}], "nvlink": [{"pair": [0, 1], "links": -4}]})",
         "m.json:/nvlink/0/links", "range"},
        {R"("numa": [{"gpus": [{"index": 0, "gpu": "b100"}]}]})", "m.json:/numa/0/gpus/0/gpu", "b100"},
        {R"("numa": [{"gpus": [0]}], "cpu": "z80"})", "m.json:/cpu", "z80"},
        {R"("numa": [{"gpus": [0]}], "pcie": "gen9 x16"})", "m.json:/pcie", "gen9"},
        {R"("numa": [{"gpus": [0, 1]}], "nvlink": [{"pair": [0, 1], "links": 4}, {"pair": [1, 0], "links": 4}]})",
         "m.json:/nvlink/1/pair", "already"},
        {R"("numa": 3})", "m.json:/numa", "list"},
    };
    for (const Fault& fault : faults) {
        try {
            machine_from_json_text(head + fault.text, "m.json");
            ADD_FAILURE() << fault.text;
        } catch (const InputError& error) {
            EXPECT_EQ(error.place(), fault.place) << error.what();
            EXPECT_NE(error.problem().find(fault.problem), std::string::npos) << error.what();
        }
    }
    EXPECT_THROW(machine_from_json_text("{\"schema\": ", "m.json"), InputError);
    EXPECT_THROW(machine_from_json_text("[]", "m.json"), InputError);
    EXPECT_THROW(machine_from_json_text(head + R"("numa": 1e999})", "m.json"), InputError);
}

TEST(MachineJson, RefusesWhatIsNestedBeyondReason) {
    constexpr int kLevels = 20'000;
    std::string text = R"({"schema": "wirewise.machine/1", "name": "m", "gpu": "a40", "numa": [{"gpus": [0])";
    for (int level = 0; level < kLevels; ++level) text += R"(, "switches": [{"name": "s")";
    for (int level = 0; level < kLevels; ++level) text += "}]";
    EXPECT_THROW(machine_from_json_text(text + "}]}", "m.json"), InputError);
}

TEST(MachineJson, KeepsRatesSaidByHandAndLostLinks) {
    const Machine machine =
        machine_from_json_text(R"({"schema": "wirewise.machine/1", "name": "m", "gpu": "h100-sxm",
        "numa": [{"gpus": [0, {"index": 1, "link": "gen5 x8 at 20 GB/s", "busid": "0000:01:00.0"}]}, {"gpus": [2]}],
        "nvlink": [{"switch": [0, 1, 2], "links": [18, 18, 16]}], "sockets": [{"between": [0, 1], "rate": "12 GB/s"}]})",
                               "m.json");
    EXPECT_EQ(nvlink_count(machine, 0, 1), 18);
    EXPECT_EQ(nvlink_count(machine, 0, 2), 16);
    const std::string text = to_json_text(machine);
    EXPECT_EQ(to_json_text(machine_from_json_text(text, "again")), text);
    EXPECT_NE(text.find("gen5 x8 at 20000000000 B/s"), std::string::npos) << text;
    EXPECT_NE(text.find("[18, 18, 16]"), std::string::npos) << text;
    EXPECT_NE(text.find("12000000000 B/s"), std::string::npos) << text;
}

}  // namespace
}  // namespace wirewise
