// NCCL topology XML: small trees typed for these tests.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "model/topology/import.hpp"

namespace wirewise {
namespace {

std::string system(const std::string& inside, int numa = 0) {
    return fmt::format(
        "<system version=\"1\"><cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
        "modelid=\"207\">{}</cpu></system>",
        numa, inside);
}

std::string gpu(int index, const std::string& links,
                const std::string& link = "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"") {
    return fmt::format(
        "<pci busid=\"0000:0{0}:00.0\" class=\"0x030200\" device=\"0x2335\" {2}>"
        "<gpu dev=\"{0}\" sm=\"90\">{1}</gpu></pci>",
        index, links, link);
}

bool warns(const ImportResult& result, const std::string& words) {
    for (const std::string& warning : result.warnings)
        if (warning.find(words) != std::string::npos) return true;
    return false;
}

TEST(NcclXml, HiddenSelfTargetingAndVisibleSwitchesAreOneSwitch) {
    for (const char* target : {"fffffff:ff:ff.0", "0000:1c:00.0", "0000:00:00.0"}) {
        const std::string link =
            fmt::format("<nvlink target=\"{}\" count=\"18\" tclass=\"0x068000\"/>", target);
        const ImportResult result = import_machine(system(gpu(0, link) + gpu(1, link)));
        ASSERT_TRUE(result.machine) << target;
        EXPECT_EQ(nvlink_count(*result.machine, 0, 1), 18) << target;
        EXPECT_EQ(result.machine->cpu, CpuKind::intel_emerald_rapids);
        EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
    }
}

TEST(NcclXml, DirectLinksCountOnceAndLostOnesAreTold) {
    const auto to = [](int peer, int count) {
        return fmt::format("<nvlink target=\"0000:0{}:00.0\" count=\"{}\" tclass=\"0x030200\"/>", peer,
                           count);
    };
    const ImportResult whole = import_machine(system(gpu(0, to(1, 6)) + gpu(1, to(0, 6))));
    EXPECT_EQ(nvlink_count(*whole.machine, 0, 1), 6);
    const ImportResult lost = import_machine(system(gpu(0, to(1, 6)) + gpu(1, to(0, 5))));
    EXPECT_EQ(nvlink_count(*lost.machine, 0, 1), 5);
    EXPECT_TRUE(warns(lost, "disagree"));
    const ImportResult absent = import_machine(system(gpu(0, to(7, 6)) + gpu(1, "")));
    EXPECT_EQ(nvlink_count(*absent.machine, 0, 1), 0);
    EXPECT_TRUE(warns(absent, "not in the file"));
}

TEST(NcclXml, WarnsOfThrottlingFlatTreesAndHiddenNuma) {
    const std::string slow =
        "<pci busid=\"0000:0a:00.0\" class=\"0x060400\" link_speed=\"2.5 GT/s\" link_width=\"1\">" +
        gpu(0, "") + "</pci>";
    EXPECT_TRUE(warns(import_machine(system(slow)), "throttles itself"));
    EXPECT_TRUE(warns(import_machine(system(gpu(0, ""), -1)), "NUMA node is unknown"));
    EXPECT_TRUE(
        warns(import_machine(system(gpu(0, "") + gpu(1, "") + gpu(2, "") + gpu(3, ""))), "no PCIe switch"));
    EXPECT_TRUE(
        warns(import_machine(system(gpu(0, "", "link_speed=\"2.5 GT/s\" link_width=\"16\""))), "idled"));
}

TEST(NcclXml, ClassesAloneGiveGpusAndNics) {
    const ImportResult result = import_machine(system(
        "<pci busid=\"0000:01:00.0\" class=\"0x030200\"/><pci busid=\"0000:02:00.0\" class=\"0x030000\"/>"
        "<pci busid=\"0000:03:00.0\" class=\"0x020000\"/><pci busid=\"0000:04:00.0\"/>"));
    EXPECT_EQ(result.verdict, Verdict::ok);
    EXPECT_EQ(result.facts.gpus.size(), 2U);
    EXPECT_EQ(result.facts.nics.size(), 1U);
    EXPECT_TRUE(warns(result, "until NCCL detects"));
    EXPECT_TRUE(warns(result, "1 PCI devices without a class"));
}

TEST(NcclXml, XgmiJoinsAmdGpus) {
    const ImportResult result = import_machine(
        "<system version=\"2\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\">"
        "<pci busid=\"0000:01:00.0\" class=\"0x120000\" device=\"0x74a1\"><gpu dev=\"0\" sm=\"304\">"
        "<xgmi target=\"0000:02:00.0\" count=\"1\" tclass=\"0x120000\"/></gpu></pci>"
        "<pci busid=\"0000:02:00.0\" class=\"0x120000\" device=\"0x74a1\"><gpu dev=\"1\" sm=\"304\">"
        "<xgmi target=\"0000:01:00.0\" count=\"1\" tclass=\"0x120000\"/></gpu></pci></cpu></system>");
    ASSERT_TRUE(result.machine);
    EXPECT_EQ(result.facts.gpus[0].model, "mi300x");
    EXPECT_EQ(result.facts.islands.size(), 1U);
    EXPECT_EQ(result.machine->cpu, CpuKind::amd_epyc);
}

TEST(NcclXml, ReadsXmlAmongOtherWords) {
    const ImportResult result =
        import_machine("$ cat $NCCL_TOPO_DUMP_FILE\n```xml\n" + system(gpu(0, "") + gpu(1, "")) + "\n```\n");
    EXPECT_EQ(result.verdict, Verdict::ok_with_repair);
    EXPECT_EQ(result.facts.gpus.size(), 2U);
    EXPECT_EQ(result.repairs.size(), 1U);
}

TEST(NcclXml, MoreThanAServerIsRefusedAtOnce) {
    const auto repeated = [](const std::string& text, int times) {
        std::string out;
        for (int i = 0; i < times; ++i) out += text;
        return out;
    };
    const std::string bridge = "<pci busid=\"0000:01:00.0\" class=\"0x060400\">";
    const std::pair<std::string, const char*> trees[] = {
        {"<system version=\"1\">" + repeated("<cpu/>", 100'000) + "</system>", "100000 CPUs"},
        {system(repeated(bridge + "</pci>", 50'000)), "50000 PCI devices"},
        {system(repeated(gpu(1, ""), 300)), "300 GPUs"},
        {system("<nic>" + repeated("<net name=\"e\"/>", 5'000) + "</nic>"), "5000 network ports"},
        {system(repeated(bridge, 200) + repeated("</pci>", 200)), "deep"},
    };
    for (const auto& [text, why] : trees) {
        const ImportResult result = import_machine(text);
        EXPECT_EQ(result.verdict, Verdict::reject) << why;
        EXPECT_TRUE(warns(result, why)) << why;
    }
}

TEST(NcclXml, WarnsOfImpossibleNumbers) {
    const std::string link = "<nvlink target=\"fffffff:ff:ff.0\" count=\"1000000\" tclass=\"0x068000\"/>";
    const ImportResult many = import_machine(system(gpu(0, link) + gpu(1, link)));
    EXPECT_TRUE(warns(many, "more than the 18 of its kind"));
    const ImportResult twice = import_machine(system(gpu(2, "") + gpu(2, "")));
    EXPECT_TRUE(warns(twice, "bus id 0000:02:00.0"));
    EXPECT_TRUE(warns(twice, "dev 2"));
}

TEST(NcclXml, ACutFileIsIncomplete) {
    const std::string whole = system(gpu(0, "") + gpu(1, ""));
    const ImportResult result = import_machine(whole.substr(0, whole.size() - 30));
    EXPECT_EQ(result.verdict, Verdict::incomplete);
    EXPECT_FALSE(result.machine);
    EXPECT_FALSE(result.missing.empty());
}

}  // namespace
}  // namespace wirewise
