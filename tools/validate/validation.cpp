#include "tools/validate/validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/units/error.hpp"
#include "model/units/near.hpp"

namespace wirewise {

namespace {

bool wanted(const MeasuredCase& one, const std::vector<std::string>& only) {
    return only.empty() ||
           std::ranges::any_of(only, [&](const std::string& begin) { return one.id.starts_with(begin); });
}

std::vector<MeasuredCase> read_all(const ValidationQuestion& question) {
    std::vector<MeasuredCase> cases;
    for (const std::string& file : question.files)
        for (MeasuredCase& one : read_cases(file, question.folders))
            if (wanted(one, question.only)) cases.push_back(std::move(one));
    if (cases.empty()) throw InputError("--only", "no case has such an id", "name the beginning of an id");
    return cases;
}

}  // namespace

Validation validate(const ValidationQuestion& question) {
    Validation result;
    const std::vector<MeasuredCase> cases = read_all(question);
    result.cases = cases.size();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const MeasuredCase& one = cases[i];
        if (question.progress) question.progress(i, cases.size(), one.id);
        ComparedCase compared;
        if (one.set_aside.empty()) compared = compare(one, question.profile);
        const std::string& reason = one.set_aside.empty() ? compared.refused : one.set_aside;
        if (!reason.empty()) result.left_out.push_back({one.id, one.place, one.labels.source, reason});
        if (!compared.answer.empty())
            result.answers.push_back(
                {one.id, one.question, compared.answer, one.assumed, !compared.comparisons.empty()});
        std::ranges::move(compared.comparisons, std::back_inserter(result.comparisons));
    }
    return result;
}

MeasuredCase find_case(const ValidationQuestion& question, const std::string& id) {
    std::vector<std::string> ids;
    for (MeasuredCase& one : read_all(question)) {
        if (one.id == id) return one;
        ids.push_back(one.id);
    }
    throw InputError("--explain", fmt::format("no case is called \"{}\"", id),
                     fmt::format("did you mean {}?", fmt::join(near_names(id, ids, 3), ", ")));
}

std::vector<std::pair<std::string, std::size_t>> reasons_of(const Validation& validation) {
    std::map<std::string, std::size_t> counts;
    for (const LeftOut& one : validation.left_out) ++counts[one.reason];
    std::vector<std::pair<std::string, std::size_t>> reasons(counts.begin(), counts.end());
    std::ranges::stable_sort(reasons, std::greater<>(), &std::pair<std::string, std::size_t>::second);
    return reasons;
}

}  // namespace wirewise
