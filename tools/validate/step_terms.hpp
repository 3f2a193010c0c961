// A predicted step taken apart, so that its parts add up to it: each part is what the step would save without
// it.
#pragma once

#include "tools/validate/predict.hpp"

namespace wirewise {

struct StepTerms {
    Seconds gemm, attention, memory_bound, optimizer;  // kernels, with no collective and no host in their way
    Seconds gaps;        // between those kernels: waits of one stream for another
    Seconds exposed;     // collectives that nothing hides
    Seconds contention;  // kernels slowed and delayed beside collectives
    Seconds host;        // the GPU waiting for launches
    Seconds total() const {
        return gemm + attention + memory_bound + optimizer + gaps + exposed + contention + host;
    }
};

StepTerms step_terms(const PredictedStep& predicted);

}  // namespace wirewise
