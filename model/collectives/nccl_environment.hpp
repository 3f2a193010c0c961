// The NCCL environment variables that decide which wires a job may use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

struct NcclEnvironment {
    bool p2p_disable = false, shm_disable = false, ib_disable = false;
    std::optional<PathClass> p2p_level;
    // NCCL's spelling; empty: all. NCCL_ALGO=Ring,Tree names them, NCCL_ALGO=^NVLS leaves one out.
    std::vector<std::string> algorithms, protocols;
    std::optional<int> min_channels, max_channels;
    bool nvls = true;  // NCCL_NVLS_ENABLE: used where the hardware has it

    bool allows(std::string_view algorithm_name, std::string_view protocol_name) const;

    bool pins_something() const {  // algorithm, protocol or channels are not NCCL's own choice
        return !algorithms.empty() || !protocols.empty() || min_channels || max_channels;
    }

    // Reads one "NCCL_X=value". Returns false for a variable that is not understood (the caller warns);
    // throws InputError for a value that is not allowed.
    bool set(std::string_view assignment, std::string_view place);
};

}  // namespace wirewise
