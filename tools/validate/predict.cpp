#include "tools/validate/predict.hpp"

#include "simulator/planner/candidate.hpp"
#include "tools/inputs/inputs.hpp"

namespace wirewise {

PredictedStep predict_step(const TrainingStepCase& step, const std::string& profile) {
    std::vector<std::string> words = step.plan_options;
    if (!profile.empty()) words.insert(words.end(), {"--profile", profile});
    PredictedStep predicted{
        inputs_of(plan_options_of(words, "case", "keys are the options of `plan` with underscores")).question,
        {}};
    const Question& question = predicted.question;
    const Site site = site_of(question, question.gpus);
    predicted.candidate =
        judge(question, plan_for(question, question.strategies.front(), site.ranks()), site);
    return predicted;
}

}  // namespace wirewise
