// All files of cases, predicted and compared.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calibration/cases/read_cases.hpp"
#include "tools/validate/compare.hpp"

namespace wirewise {

struct LeftOut {
    std::string id, place, source, reason;
};

// What a user is told, whether or not the report states a figure to compare it with.
struct UserAnswer {
    std::string id, question, answer;
    std::vector<std::string> assumed;
    bool compared = false;
};

struct Validation {
    std::vector<Comparison> comparisons;
    std::vector<UserAnswer> answers;
    std::vector<LeftOut> left_out;
    std::size_t cases = 0;
};

struct ValidationQuestion {
    std::vector<std::string> files;
    CaseFolders folders;
    std::string profile;
    std::vector<std::string> only;  // ids or beginnings of ids; empty: all
    std::function<void(std::size_t done, std::size_t total, const std::string& now)> progress;
};

Validation validate(const ValidationQuestion& question);

// The case of this id in the question's files. Throws InputError when there is none.
MeasuredCase find_case(const ValidationQuestion& question, const std::string& id);

// How many cases were left out for each reason, most first.
std::vector<std::pair<std::string, std::size_t>> reasons_of(const Validation& validation);

}  // namespace wirewise
