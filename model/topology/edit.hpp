// A machine changed by hand: --set-machine and --without.
#pragma once

#include <string_view>

#include "model/topology/machine.hpp"

namespace wirewise {

// "POINTER=value" on the machine's JSON form (to_json): `/pcie=gen4 x16`, `/nvlink/0/links=4`,
// `/host_memory=512 GB`. A value that is JSON (a number, a list, true) is taken as such, any other as text.
// Throws InputError where the pointer leads nowhere or the result is no machine.
Machine set_in_machine(const Machine& machine, std::string_view assignment);

// `what`: nvlink (all NVLink and xGMI), nvswitch (those through switches), p2p (peer access over PCIe), nics.
Machine machine_without(const Machine& machine, std::string_view what);

}  // namespace wirewise
