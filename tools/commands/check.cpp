#include <fmt/format.h>

#include <cmath>

#include <CLI/CLI.hpp>

#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/inputs.hpp"

namespace wirewise {

namespace {

struct Options {
    PlanOptions plan;
    OutputOptions output;
    std::string max_memory;
    double min_tokens_per_second = 0, max_slowdown = 0;
};

struct Check {
    std::string limit, found;
    bool met;
};

// Memory and speed at the pessimistic end of their intervals; the slowdown as expected, for what is off in one
// strategy's time is off in the others'.
std::vector<Check> checks_of(const Options& options, const Answer& answer, const PlanCandidate& candidate) {
    std::vector<Check> checks;
    const Bytes memory = candidate.intervals.memory.hi;
    checks.push_back(
        {fmt::format("fits in {}", to_text(candidate.limit)), to_text(memory), memory <= candidate.limit});
    if (!options.max_memory.empty()) {
        const Bytes most = parse_bytes(options.max_memory, "--max-memory");
        checks.push_back({fmt::format("at most {}", to_text(most)), to_text(memory), memory <= most});
    }
    const double slowest =
        candidate.throughput.tokens_per_second * (candidate.estimate.time.step / candidate.intervals.step.hi);
    if (options.min_tokens_per_second > 0)
        checks.push_back({fmt::format("at least {:.0f} tokens/s", options.min_tokens_per_second),
                          fmt::format("{:.0f} tokens/s", slowest), slowest >= options.min_tokens_per_second});
    if (options.max_slowdown > 0) {
        double best = 0;
        for (const PlanCandidate& other : answer.candidates)
            best = std::max(best, other.throughput.tokens_per_second);
        const double slowdown = best / candidate.throughput.tokens_per_second;
        checks.push_back({fmt::format("at most {:.2f} x the fastest strategy's time", options.max_slowdown),
                          fmt::format("{:.2f} x", slowdown), slowdown <= options.max_slowdown});
    }
    return checks;
}

void require_limit(double limit, const char* option, const char* example) {
    if (!std::isfinite(limit) || limit < 0)
        throw InputError(option, fmt::format("{} is no limit", limit), example);
}

Report check(const Options& options) {
    require_limit(options.min_tokens_per_second, "--min-tokens-per-second", "write for example 10000");
    require_limit(options.max_slowdown, "--max-slowdown", "write for example 1.2");
    const Inputs inputs = inputs_of(options.plan);
    const Answer result = answer(inputs.question);
    Report report;
    report.document = {
        {"schema", "wirewise.check/1"}, {"inputs", echo_of(inputs)}, {"checks", Json::array()}};
    report.records = "checks";
    report.warnings = inputs.warnings;
    report.tables.push_back({"memory and tokens/s judged at the pessimistic end of their intervals",
                             {"<strategy", "<limit", "<found", "<met"},
                             {},
                             -1});
    bool all = true;
    for (const PlanCandidate& candidate : result.candidates)
        for (const Check& one : checks_of(options, result, candidate)) {
            all = all && one.met;
            report.document["checks"].push_back({{"strategy", name_of(candidate.plan.strategy)},
                                                 {"limit", one.limit},
                                                 {"found", one.found},
                                                 {"met", one.met}});
            report.tables.front().rows.push_back({std::string(name_of(candidate.plan.strategy)), one.limit,
                                                  one.found, one.met ? "yes" : "NO"});
        }
    report.document["met"] = all;
    report.exit_code = all ? 0 : 3;
    return report;
}

}  // namespace

void add_check_command(CommandLine& line) {
    CLI::App& command = line.add("check", "exit code 3 when a strategy breaks a limit: for CI");
    auto options = std::make_shared<Options>();
    options->plan.add_to(command);
    command.add_option("--max-memory", options->max_memory, "device use per GPU, e.g. \"70 GiB\"")
        ->group("Limits");
    command.add_option("--min-tokens-per-second", options->min_tokens_per_second, "of all GPUs together")
        ->group("Limits");
    command
        .add_option("--max-slowdown", options->max_slowdown,
                    "against the fastest strategy asked for, e.g. 1.2")
        ->group("Limits");
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return check(*options); });
}

}  // namespace wirewise
