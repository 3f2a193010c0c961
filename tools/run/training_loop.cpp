#include "tools/run/training_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "executor/training/save.hpp"
#include "model/units/text.hpp"
#include "tools/render/progress.hpp"

namespace wirewise {

namespace {

std::string line_of(const StepResult& step, const RunInputs& inputs, const Executor& executor) {
    const double rate = static_cast<double>(inputs.batch.tokens()) / step.seconds.value();
    return fmt::format("loss {:.4f}, {} tokens/s, {} a rank", step.loss,
                       with_commas(static_cast<std::int64_t>(rate)), to_text(executor.memory().allocated));
}

}  // namespace

std::vector<StepResult> train(Executor& executor, const RunInputs& inputs, const RunOptions& options,
                              const InterruptWatch& interrupt) {
    Progress progress("run", options.output.quiet);
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(inputs.batch.tokens()));
    std::vector<StepResult> steps;
    for (std::int64_t step = 0; step < inputs.steps; ++step) {
        interrupt.check();
        inputs.tokens->read(step, inputs.batch, tokens);
        executor.watch(step + 1 == inputs.steps);  // the timeline that the report joins with the prediction
        steps.push_back(executor.step(tokens));
        if (step == 0 && !options.save_gradients.empty()) save_gradients(executor, options.save_gradients);
        progress.step(static_cast<std::size_t>(step + 1), static_cast<std::size_t>(inputs.steps),
                      line_of(steps.back(), inputs, executor));
    }
    interrupt.check();
    if (!options.save.empty())
        save_checkpoint(executor, options.save, inputs.plan.precision.parameter, inputs.config);
    return steps;
}

Seconds median_step(const std::vector<StepResult>& steps) {
    std::vector<Seconds> times;
    for (const StepResult& step : steps) times.push_back(step.seconds);
    if (times.size() > 1) times.erase(times.begin());
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

}  // namespace wirewise
