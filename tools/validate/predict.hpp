// What `plan` says of a case's training step: the same options, the same path.
#pragma once

#include <string>

#include "calibration/cases/case.hpp"
#include "simulator/planner/question.hpp"

namespace wirewise {

struct PredictedStep {
    Question question;
    PlanCandidate candidate;
};

PredictedStep predict_step(const TrainingStepCase& step, const std::string& profile);

}  // namespace wirewise
