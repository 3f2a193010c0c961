// Cut, doubled, shuffled and scribbled inputs: an answer every time, never a crash.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "model/topology/built_in.hpp"
#include "model/topology/draw/draw.hpp"
#include "model/topology/machine_json.hpp"
#include "model/topology/report.hpp"
#include "model/units/error.hpp"
#include "tests/topology/paste.hpp"

namespace wirewise {
namespace {

constexpr const char* kXml =
    "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
    "modelid=\"143\">"
    "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
    "<pci busid=\"0000:02:00.0\" class=\"0x030200\" device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" "
    "link_width=\"16\">"
    "<gpu dev=\"0\" sm=\"90\"><nvlink target=\"0000:03:00.0\" count=\"4\" tclass=\"0x030200\"/></gpu></pci>"
    "<pci busid=\"0000:03:00.0\" class=\"0x030200\" device=\"0x2330\"><gpu dev=\"1\">"
    "<nvlink target=\"0000:02:00.0\" count=\"3\" tclass=\"0x030200\"/></gpu></pci>"
    "<pci busid=\"0000:04:00.0\" class=\"0x020700\"><nic><net name=\"mlx5_0\" dev=\"0\" "
    "speed=\"400000\"/></nic></pci>"
    "</pci></cpu></system>";

std::string scribbled(std::string text) {
    const int edits = *rc::gen::inRange(1, 12);
    for (int i = 0; i < edits && !text.empty(); ++i) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        const auto length = std::min(*rc::gen::inRange<std::size_t>(0, 60), text.size() - at);
        switch (*rc::gen::inRange(0, 5)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, text.substr(at, length));
                break;
            case 2:
                std::reverse(text.begin() + static_cast<std::ptrdiff_t>(at),
                             text.begin() + static_cast<std::ptrdiff_t>(at + length));
                break;
            case 3:
                text[at] = *rc::gen::arbitrary<char>();
                break;
            default:
                text.resize(at);
                break;
        }
    }
    return text;
}

void use(const std::string& text) {
    const ImportResult result = import_machine(text);
    RC_ASSERT(!topology_report(result).dump(-1, ' ', false, Json::error_handler_t::replace).empty());
    RC_ASSERT(!topology_table(result).empty());
    if (!result.machine) return;
    RC_ASSERT(!to_svg(*result.machine).empty() && !to_dot(*result.machine).empty());
    const std::string json = to_json_text(*result.machine);
    RC_ASSERT(to_json_text(machine_from_json_text(json, "again")) == json);
}

TEST(Fuzz, ScribbledMatrices) {
    EXPECT_TRUE(rc::check([] {
        const auto name = *rc::gen::elementOf(
            std::vector<std::string>{"dgx-1-v100", "h100-nvl-8", "h200-x2", "gb200-nvl4"});
        use(scribbled(testing::paste(facts_of(*built_in_machine(name)))));
    }));
}

TEST(Fuzz, ScribbledXml) {
    EXPECT_TRUE(rc::check([] { use(scribbled(kXml)); }));
}

TEST(Fuzz, ScribbledMachines) {
    EXPECT_TRUE(rc::check([] { use(scribbled(to_json_text(*built_in_machine("h100-nvl-8")))); }));
}

TEST(Fuzz, AnyBytes) {
    EXPECT_TRUE(rc::check([](const std::string& bytes) { use(bytes); }));
}

}  // namespace
}  // namespace wirewise
