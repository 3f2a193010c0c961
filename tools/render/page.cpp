#include "tools/render/page.hpp"

#include <algorithm>

#include "model/topology/draw/draw.hpp"
#include "model/units/embedded.hpp"
#include "model/units/error.hpp"
#include "simulator/planner/candidate.hpp"
#include "simulator/planner/step_picture.hpp"
#include "tools/render/plan_json.hpp"

namespace wirewise {

std::span<const EmbeddedFile> page_files();

namespace {

std::string_view part(std::string_view name) {
    for (const EmbeddedFile& file : page_files())
        if (file.name == name) return file.text;
    throw InvariantError("a part of the page is not compiled in");
}

double milliseconds(Instant at) { return to_seconds(at).value() * 1e3; }

// The highest allocated in each of at most this many equal parts of the step: more than a screen can show.
constexpr std::size_t kMemoryPoints = 600;

Json memory_curve(const StepPicture& picture) {
    const double end = std::max(milliseconds(picture.timeline.end), 1e-9);
    std::vector<std::int64_t> highest(kMemoryPoints, -1);
    for (const Span& span : picture.timeline.spans) {
        const auto at = static_cast<std::size_t>(milliseconds(span.begin) / end * (kMemoryPoints - 1));
        highest[at] = std::max(highest[at], picture.allocated_by_op[index_of(span.op)].count());
    }
    Json points = Json::array();
    for (std::size_t i = 0; i < kMemoryPoints; ++i)
        if (highest[i] >= 0)
            points.push_back({end * static_cast<double>(i) / (kMemoryPoints - 1), highest[i]});
    return points;
}

Json bar_json(const StepProgram& program, const Bar& bar) {
    const Op& op = program.ops[index_of(bar.first)];
    const std::string name =
        bar.ops == 1 || op.name.layer < 0 ? place_of(op) : place_of(op).substr(0, place_of(op).rfind(','));
    return {index_of(bar.stream),
            milliseconds(bar.begin),
            milliseconds(bar.end),
            name_of(op.section),
            name,
            milliseconds(bar.busy),
            bar.ops};
}

Json step_json(const Inputs& inputs, const PlanCandidate& candidate) {
    const StepPicture picture =
        picture_of_step(inputs.question.model, candidate.plan, site_of(inputs.question, candidate.gpus));
    Json step{{"strategy", name_of(candidate.plan.strategy)},
              {"milliseconds", milliseconds(picture.timeline.end)},
              {"streams", Json::array()},
              {"bars", Json::array()},
              {"memory", memory_curve(picture)}};
    for (const Stream& stream : picture.program.streams) step["streams"].push_back(stream.name);
    for (const Bar& bar : bars_of(picture)) step["bars"].push_back(bar_json(picture.program, bar));
    return step;
}

void replace(std::string& text, std::string_view mark, std::string_view by) {
    const auto at = text.find(mark);
    ensure(at != std::string::npos, "the page has a place for each part");
    text.replace(at, mark.size(), by);
}

// JSON inside a <script>: nothing in it may end the element.
std::string embedded(const Json& data) {
    std::string text;
    char before = ' ';
    for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
        if (before == '<' && c == '/') text += '\\';
        text += before = c;
    }
    return text;
}

}  // namespace

std::string plan_page(const Inputs& inputs, const Answer& answer) {
    Json data{{"plan", plan_document(inputs, answer)}, {"steps", Json::array()}};
    for (const PlanCandidate& candidate : answer.candidates)
        data["steps"].push_back(step_json(inputs, candidate));
    std::string page(part("page.html"));
    replace(page, "/*STYLE*/", part("page.css"));
    replace(page, "<!--MACHINE-->", to_svg(inputs.question.machine));
    replace(page, "/*SCRIPT*/", part("page.js"));
    replace(page, "/*DATA*/", embedded(data));
    return page;
}

}  // namespace wirewise
