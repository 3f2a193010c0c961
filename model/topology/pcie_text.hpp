// A PCIe link as people write it: "gen5 x16", or "gen5 x16 at 40 GB/s" where its rate is known by hand.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/units/quantity.hpp"

namespace wirewise {

struct PcieLink {
    int generation = 4, width = 16;
    std::optional<BytesPerSecond> rate;  // one way; nothing: as generation and width give

    bool operator==(const PcieLink&) const = default;
};

PcieLink parse_pcie(std::string_view text, std::string_view place);
std::string to_text(const PcieLink& link);

}  // namespace wirewise
