// DeepSpeed's JSON config, as its users have it.
#pragma once

#include <string>
#include <vector>

#include "tools/options/options.hpp"

namespace wirewise {

// What the file says becomes the options it speaks of: the ZeRO stage --strategy (where that asks for all),
// precision, batch, clipping, offload, and the buckets. "auto" leaves an option as it is. Throws InputError
// where file and command line disagree, or for what is not modelled; `warnings` names keys that change time
// or memory and are not understood.
void apply_deepspeed_config(const std::string& path, TrainingOptions& options,
                            std::vector<std::string>& warnings);

}  // namespace wirewise
