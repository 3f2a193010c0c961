#include "model/topology/edit.hpp"

#include <gtest/gtest.h>

#include "model/topology/built_in.hpp"
#include "model/topology/draw/draw.hpp"
#include "model/units/error.hpp"

namespace wirewise {
namespace {

TEST(MachineEdit, SetsWhatThePointerNames) {
    const Machine machine = *built_in_machine("h200-nvl-8");
    EXPECT_EQ(nvlink_count(set_in_machine(machine, "/nvlink/0/links=4"), 0, 1), 4);
    EXPECT_EQ(set_in_machine(machine, "/host_memory=512 GB").host_memory, Bytes(512000000000));
    const Machine slow = set_in_machine(machine, "/pcie=gen3 x8");
    EXPECT_LT(path_rate(slow, slow.gpus[0].node, slow.gpus[4].node),
              path_rate(machine, machine.gpus[0].node, machine.gpus[4].node));
    EXPECT_EQ(set_in_machine(machine, "/pcie_peer_to_peer=false").pcie_peer_to_peer, std::optional(false));
}

TEST(MachineEdit, RefusesWhatLeadsNowhere) {
    const Machine machine = *built_in_machine("h200-nvl-8");
    for (const char* bad : {"", "pcie=gen4 x16", "/pcie", "/nvlink/9/links=4", "/a/b/c=1", "/host_memory=64",
                            "/nvlink/x=1", "/pcie=fast", "=3", "/speling=1"})
        EXPECT_THROW(set_in_machine(machine, bad), InputError) << bad;
    EXPECT_THROW(machine_without(machine, "gravity"), InputError);
}

TEST(MachineEdit, TakesOutWires) {
    const Machine nvl = *built_in_machine("h200-nvl-8"), hgx = *built_in_machine("hgx-h100-8");
    EXPECT_EQ(islands(machine_without(nvl, "nvlink")).size(), 8U);
    EXPECT_EQ(islands(machine_without(nvl, "nvswitch")).size(), 2U);
    EXPECT_EQ(islands(machine_without(hgx, "nvswitch")).size(), 8U);
    EXPECT_TRUE(machine_without(hgx, "nics").nics.empty());
    EXPECT_EQ(machine_without(hgx, "p2p").pcie_peer_to_peer, std::optional(false));
}

TEST(Drawing, NamesEveryDeviceAndTheNarrowLink) {
    for (const std::string& name : built_in_machine_names()) {
        const Machine machine = *built_in_machine(name);
        const std::string svg = to_svg(machine), dot = to_dot(machine);
        for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
            EXPECT_NE(svg.find(">GPU" + std::to_string(i) + "<"), std::string::npos) << name;
            EXPECT_NE(dot.find("\"GPU" + std::to_string(i) + "\""), std::string::npos) << name;
        }
        EXPECT_EQ(svg.find("nan"), std::string::npos) << name;
        const bool several = islands(machine).size() > 1;
        EXPECT_EQ(svg.find("narrowest between islands") != std::string::npos, several) << name;
        EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}

// Racks stand in rows of sixteen GPUs, each with its part of the switch; smaller machines in one.
TEST(Drawing, ARackIsNotOneStrip) {
    const auto width = [](const std::string& svg) {
        return std::stoi(svg.substr(svg.find("viewBox=\"0 0 ") + 13));
    };
    const auto bars = [](const std::string& svg) {
        int count = 0;
        for (auto at = svg.find(">NVSwitch<"); at != std::string::npos; at = svg.find(">NVSwitch<", at + 1))
            ++count;
        return count;
    };
    const std::string rack = to_svg(*built_in_machine("gb200-nvl72")),
                      box = to_svg(*built_in_machine("dgx-2"));
    EXPECT_LT(width(rack), 2600);
    EXPECT_EQ(bars(rack), 5);
    EXPECT_EQ(bars(box), 1);
}

// 12.5 units a letter: a longer name would run out of the picture.
TEST(Drawing, LongNamesAreShortened) {
    Machine machine = *built_in_machine("rtx-3090-2");
    machine.name = "a-machine-with-a-name-that-goes-on-and-on-and-on-for-no-good-reason & <more>";
    const std::string svg = to_svg(machine);
    const std::size_t end = svg.find("…</text>");
    ASSERT_NE(end, std::string::npos);
    EXPECT_LT(end - svg.rfind('>', end), 45U);
    EXPECT_EQ(svg.find("<more>"), std::string::npos);
}

}  // namespace
}  // namespace wirewise
