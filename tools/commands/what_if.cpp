#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/inputs.hpp"
#include "tools/render/progress.hpp"

namespace wirewise {

namespace {

struct Options {
    std::vector<std::string> machines, gpu_ids, vary;  // vary: "option=a,b,c"
    std::vector<std::string> words;                    // the options of `plan`, the same for every variant
    OutputOptions output;
};

// One way to ask the question: words that override those of the command line.
struct Variant {
    std::string name;
    std::vector<std::string> words;
};

// Every variant so far times every value of one option.
void multiply(std::vector<Variant>& variants, const std::string& option,
              const std::vector<std::string>& values) {
    if (values.empty()) return;
    std::vector<Variant> more;
    for (const Variant& variant : variants)
        for (const std::string& value : values) {
            Variant next = variant;
            next.name +=
                (next.name.empty() ? "" : " ") + (option == "machine" ? value : option + "=" + value);
            next.words.insert(next.words.end(), {"--" + option, value});
            more.push_back(std::move(next));
        }
    variants = std::move(more);
}

std::vector<Variant> variants_of(const Options& options) {
    std::vector<Variant> variants{{}};
    multiply(variants, "machine", options.machines);
    multiply(variants, "gpu-ids", options.gpu_ids);
    for (const std::string& vary : options.vary) {
        const auto equals = vary.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError("--vary", fmt::format("\"{}\" is not option=a,b,c", vary),
                             "write for example --vary micro-batch=1,2,4");
        std::string option = vary.substr(0, equals);
        for (char& c : option) c = c == '_' ? '-' : c;
        multiply(variants, option.substr(option.find_first_not_of('-')), split(vary.substr(equals + 1), ','));
    }
    if (variants.size() < 2)
        throw InputError("what-if", "needs at least two variants",
                         "give several --machine, several --gpu-ids, or --vary option=a,b,c");
    return variants;
}

struct Cell {
    std::string variant;
    const PlanCandidate* candidate;
    const PlanCandidate* base;  // the same strategy in the first variant; null when it is not there
};

double slowdown(const Cell& cell) {
    return cell.base ? cell.base->throughput.tokens_per_second / cell.candidate->throughput.tokens_per_second
                     : 0;
}

std::string cause(const Cell& cell) {
    if (!cell.base || cell.base == cell.candidate) return cell.candidate->bottleneck;
    const TimelineSummary &now = cell.candidate->estimate.time, &then = cell.base->estimate.time;
    return fmt::format("exposed communication {} against {}, compute {} against {}{}; {}",
                       to_text(now.exposed_communication), to_text(then.exposed_communication),
                       to_text(now.compute), to_text(then.compute),
                       then.host_bound ? ", the first is host-bound" : "", cell.candidate->bottleneck);
}

Json cell_json(const Cell& cell) {
    const PlanCandidate& candidate = *cell.candidate;
    return {{"variant", cell.variant},
            {"strategy", name_of(candidate.plan.strategy)},
            {"gpus", candidate.gpus},
            {"step_seconds", candidate.estimate.time.step.value()},
            {"tokens_per_second", candidate.throughput.tokens_per_second},
            {"slowdown", cell.base ? Json(slowdown(cell)) : Json(nullptr)},
            {"fits", name_of(candidate.fits)},
            {"peak_bytes", candidate.estimate.device_used().count()},
            {"host_bound", candidate.estimate.time.host_bound},
            {"cause", cause(cell)}};
}

std::vector<std::string> cell_row(const Cell& cell) {
    const PlanCandidate& candidate = *cell.candidate;
    return {cell.variant,
            std::string(name_of(candidate.plan.strategy)),
            fmt::format("{:.1f}", candidate.estimate.time.step.value() * 1e3),
            cell.base ? fmt::format("{:.2f}", slowdown(cell)) : "",
            std::string(name_of(candidate.fits)),
            to_text(candidate.estimate.device_used()),
            candidate.bottleneck};
}

Report what_if(const Options& options) {
    const auto variants = variants_of(options);
    Progress progress("what-if", options.output.quiet);
    std::vector<Answer> answers;
    Report report;
    report.document = {
        {"schema", "wirewise.what_if/1"}, {"variants", Json::array()}, {"cells", Json::array()}};
    report.records = "cells";
    report.tables.push_back(
        {"slowdown: against the first variant",
         {"<variant", "<strategy", "step ms", "slowdown", "<fits", "memory", "<bottleneck"},
         {},
         -1});
    for (const Variant& variant : variants) {
        progress.step(answers.size(), variants.size(), variant.name);
        std::vector<std::string> words = options.words;
        words.insert(words.end(), variant.words.begin(), variant.words.end());
        const Inputs inputs = inputs_of(plan_options_of(words));
        answers.push_back(answer(inputs.question));
        const Answer& result = answers.back();
        report.document["variants"].push_back(
            {{"name", variant.name},
             {"inputs", echo_of(inputs)},
             {"recommended", result.recommended
                                 ? Json(name_of(result.candidates[*result.recommended].plan.strategy))
                                 : Json(nullptr)},
             {"why", result.why}});
        report.after.push_back(variant.name + ": " + result.why);
        report.warnings.insert(report.warnings.end(), inputs.warnings.begin(), inputs.warnings.end());
    }
    for (std::size_t i = 0; i < variants.size(); ++i)
        for (const PlanCandidate& candidate : answers[i].candidates) {
            Cell cell{variants[i].name, &candidate, nullptr};
            for (const PlanCandidate& base : answers.front().candidates)
                if (base.plan.strategy == candidate.plan.strategy) cell.base = &base;
            report.document["cells"].push_back(cell_json(cell));
            report.tables.front().rows.push_back(cell_row(cell));
        }
    return report;
}

}  // namespace

void add_what_if_command(CommandLine& line) {
    CLI::App& command =
        line.add("what-if", "the same question over several machines, placements or option values");
    auto options = std::make_shared<Options>();
    command.add_option("--machine", options->machines, "a machine; give several to compare them")
        ->expected(1)
        ->take_all();
    command.add_option("--gpu-ids", options->gpu_ids, "a choice of GPUs; give several to compare them")
        ->expected(1)
        ->take_all();
    command.add_option("--vary", options->vary, "OPTION=A,B,C: any option of `plan`")
        ->expected(1)
        ->take_all();
    options->output.add_to(command);
    command.allow_extras();
    command.footer("All options of `plan` are taken too and hold for every variant.");
    line.answer(command, options->output, [options, &command] {
        options->words = command.remaining();
        return what_if(*options);
    });
}

}  // namespace wirewise
