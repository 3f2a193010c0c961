// What `run` answers: the steps, and measured beside predicted.
#pragma once

#include "tools/render/report.hpp"
#include "tools/run/backend.hpp"

namespace wirewise {

Report run_report(const RunInputs& inputs, const Backend& backend, const Executor& executor,
                  const std::vector<StepResult>& steps, const Prediction& prediction);

// The inputs as understood, defaults included.
Json run_inputs_json(const RunInputs& inputs, const Backend& backend);

// Every rank's last step and the predicted one, as a Perfetto trace.
std::string run_trace(const StepProgram& program, const std::vector<Timeline>& ranks,
                      const Prediction& prediction);

}  // namespace wirewise
