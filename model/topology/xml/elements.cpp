#include "model/topology/xml/elements.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

namespace wirewise::xml {
namespace {

// PCI class codes: display controllers and processing accelerators, network, bridges (PCI-to-PCI and NCCL's
// own 0x080100 for switches).
PciRole role_of_class(std::string_view pci_class) {
    if (pci_class.starts_with("0x03") || pci_class.starts_with("0x12")) return PciRole::gpu;
    if (pci_class.starts_with("0x02")) return PciRole::nic;
    if (pci_class.starts_with("0x0604") || pci_class.starts_with("0x0801")) return PciRole::bridge;
    return PciRole::other;
}

}  // namespace

PciRole role_of(const pugi::xml_node& pci) {
    if (pci.child("gpu")) return PciRole::gpu;
    if (pci.child("nic")) return PciRole::nic;
    const std::string_view pci_class = pci.attribute("class").value();
    if (!pci_class.empty()) {
        const PciRole role = role_of_class(pci_class);
        return role == PciRole::other && pci.child("pci") ? PciRole::bridge : role;
    }
    return pci.child("pci") ? PciRole::bridge : PciRole::unknown;
}

std::string busid_of(const pugi::xml_node& element) {
    std::string busid = element.attribute("busid").value();
    for (char& c : busid) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return busid;
}

std::optional<int> number_in(const pugi::xml_node& element, const char* attribute) {
    const std::string_view text = element.attribute(attribute).value();
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// The borders are NCCL's: model 0x55 Skylake, 0x8F Sapphire Rapids, 0xCF Emerald Rapids.
CpuKind cpu_of(const pugi::xml_node& cpu) {
    const std::string_view arch = cpu.attribute("arch").value(), vendor = cpu.attribute("vendor").value();
    if (arch.starts_with("ppc")) return CpuKind::power9;
    if (arch.starts_with("arm") || arch.starts_with("aarch")) return CpuKind::arm;
    if (vendor == "AuthenticAMD" || vendor == "HygonGenuine") return CpuKind::amd_epyc;
    if (vendor.find("Shanghai") != std::string_view::npos || vendor == "CentaurHauls")
        return CpuKind::zhaoxin;
    if (vendor != "GenuineIntel") return CpuKind::unknown;
    const int family = number_in(cpu, "familyid").value_or(6), model = number_in(cpu, "modelid").value_or(0);
    if (family > 6 || model >= 0xCF) return CpuKind::intel_emerald_rapids;
    if (model >= 0x8F) return CpuKind::intel_sapphire_rapids;
    return model >= 0x55 ? CpuKind::intel_skylake : CpuKind::intel_broadwell;
}

double PciSpeed::rate() const { return generation == 0 ? 0 : width * std::exp2(generation); }

// "16.0 GT/s PCIe", "16 GT/s", "32 GT/s PCIe/s". An unknown or empty speed is generation 3 and a width of 0
// is 16, as in NCCL; an attribute that is not there at all is left to detection.
PciSpeed speed_of(const pugi::xml_node& pci) {
    PciSpeed speed;
    const pugi::xml_attribute text = pci.attribute("link_speed");
    const int width = number_in(pci, "link_width").value_or(16);
    speed.width = width >= 1 && width <= 32 ? width : 16;
    if (!text) return speed;
    const std::string_view value = text.value();
    double gigatransfers = 0;
    std::from_chars(value.data(), value.data() + value.size(), gigatransfers);
    speed.generation = 3;
    constexpr double rates[] = {2.5, 5, 8, 16, 32, 64, 128};
    for (int i = 0; i < 7; ++i)
        if (gigatransfers == rates[i]) speed.generation = i + 1;
    return speed;
}

}  // namespace wirewise::xml
