#include "model/units/error.hpp"

#include <fmt/format.h>

namespace wirewise {

namespace {
std::string sentence(const std::string& place, const std::string& problem, const std::string& remedy) {
    std::string text = place.empty() ? problem : fmt::format("{}: {}", place, problem);
    return remedy.empty() ? text : fmt::format("{}; {}", text, remedy);
}
}  // namespace

InputError::InputError(std::string place, std::string problem, std::string remedy)
    : std::runtime_error(sentence(place, problem, remedy)),
      place_(std::move(place)),
      problem_(std::move(problem)),
      remedy_(std::move(remedy)) {}

void fail_invariant(std::string_view what, std::source_location where) {
    throw InvariantError(fmt::format("{}:{}: {}", where.file_name(), where.line(), what));
}

}  // namespace wirewise
