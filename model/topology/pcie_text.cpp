#include "model/topology/pcie_text.hpp"

#include <fmt/format.h>

#include <charconv>

#include "model/units/error.hpp"
#include "model/units/text.hpp"

namespace wirewise {
namespace {

// Takes "gen5" or "x16" off the front: the number after `prefix`, or nothing.
std::optional<int> take(std::string_view& text, std::string_view prefix) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (!text.starts_with(prefix)) return std::nullopt;
    int number = 0;
    const char* const begin = text.data() + prefix.size();
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

}  // namespace

PcieLink parse_pcie(std::string_view text, std::string_view place) {
    std::string_view rest = text;
    const auto generation = take(rest, "gen");
    const auto width = take(rest, "x");
    if (!generation || !width || *generation < 1 || *generation > 7 || *width < 1 || *width > 32)
        throw InputError(std::string(place), fmt::format("\"{}\" is not a PCIe link", text),
                         "write for example \"gen5 x16\"");
    PcieLink link{*generation, *width, {}};
    if (rest.starts_with(" at "))
        link.rate = parse_bandwidth(rest.substr(4), place);
    else if (!rest.empty())
        throw InputError(std::string(place), fmt::format("\"{}\" goes on after the PCIe link", text),
                         "write for example \"gen5 x16 at 40 GB/s\"");
    return link;
}

std::string to_text(const PcieLink& link) {
    const std::string text = fmt::format("gen{} x{}", link.generation, link.width);
    return link.rate ? fmt::format("{} at {}", text, exact_text(*link.rate)) : text;
}

}  // namespace wirewise
