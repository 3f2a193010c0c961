// Where numbers come from: shown by `plan`, required in every profile.
#pragma once

#include <string>

namespace wirewise {

struct Origin {
    std::string source;  // "data sheet", "measured: ...", "published: ..."
    std::string date;
    int samples = 0;
    double residual = 0;  // mean relative error over the samples; 0: not known
    double spread = 0;    // of one fitted number: standard error of its logarithm; 0: not fitted
};

}  // namespace wirewise
