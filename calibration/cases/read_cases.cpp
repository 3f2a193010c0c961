#include "calibration/cases/read_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calibration/cases/kinds.hpp"
#include "model/units/error.hpp"

namespace wirewise {

namespace {

// Published collective runs have their own reader: a bandwidth on some hardware, no kind.
bool is_published_collective(const JsonLine& line) {
    return !line.has("kind") && line.has("hardware") &&
           (line.has("busbw_gigabytes_per_second") || line.has("collective"));
}

bool is_user_case(const JsonLine& line) { return line.has("theme") && line.has("outcome"); }

bool is_published_run(const JsonLine& line) {
    return !line.has("kind") && line.has("strategy") && line.has("source");
}

std::vector<MeasuredCase> cases_of(const JsonLine& line, const CaseFolders& folders) {
    if (is_user_case(line)) return {user_case(line)};
    if (is_published_run(line)) return {published_run(line)};
    const std::string kind = line.text("kind");
    if (kind.empty())
        throw InputError(line.place(), "is neither a measured case nor a published run",
                         "write \"kind\": \"training_step\", \"collective\", \"gemm\", ...");
    if (kind == "training_step") return {training_step_case(line, folders)};
    if (kind == "collective") return {collective_case(line)};
    if (kind == "contention") return {contention_case(line)};
    return kernel_cases(line);
}

}  // namespace

std::vector<MeasuredCase> read_cases(const std::string& file, const CaseFolders& folders) {
    const std::vector<JsonLine> lines = read_json_lines(file);
    if (is_published_collective(lines.front())) return published_collective_cases(file);
    std::vector<MeasuredCase> cases;
    for (const JsonLine& line : lines)
        for (MeasuredCase& one : cases_of(line, folders)) {
            if (line.has("date")) one.date = line.text("date");
            cases.push_back(std::move(one));
        }
    return cases;
}

}  // namespace wirewise
