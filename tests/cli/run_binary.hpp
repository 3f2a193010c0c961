// Runs the built wirewise and catches what it says.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace wirewise {

struct Said {
    int exit_code = -1;  // 128 + signal when it was killed
    std::string out, err;
    nlohmann::ordered_json json() const;  // of `out`; fails the test when it is not JSON
};

// A run of more than `longest` seconds hangs, and is ended.
Said run_binary(const std::vector<std::string>& arguments, const std::string& input = {},
                unsigned longest = 60);

// "plan --model mistral-7b": split at blanks.
Said wirewise_run(const std::string& words);

}  // namespace wirewise
