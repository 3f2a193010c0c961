// Machines as JSON, short enough to write by hand (topologies/README.md shows every key). Example:
//
//   { "schema": "wirewise.machine/1", "name": "two-islands", "cpu": "intel-emerald-rapids",
//     "gpu": "h200-nvl", "pcie": "gen5 x16",
//     "numa": [ {"gpus": [0, 1, 2, 3]}, {"gpus": [4, 5, 6, 7], "nics": ["mlx5_0"]} ],
//     "nic_rate": "400 Gb/s",
//     "nvlink": [ {"mesh": [0, 1, 2, 3], "links": 6}, {"mesh": [4, 5, 6, 7], "links": 6} ] }
//
// Rates follow from the GPU's kind, the PCIe generation and the CPU (link_rates.hpp); each may be said by
// hand.
#pragma once

#include <string>
#include <string_view>

#include "model/topology/json_view.hpp"
#include "model/topology/machine.hpp"

namespace wirewise {

// `file` names the source in messages. Throws InputError with file and JSON pointer.
Machine machine_from_json(const Json& json, std::string_view file);
Machine machine_from_json_text(std::string_view text, std::string_view file);

// The same form back: machine_from_json(to_json(m)) is m again, links and rates included.
Json to_json(const Machine& machine);

// Laid out for people: one device list or link per line.
std::string to_json_text(const Machine& machine);

}  // namespace wirewise
