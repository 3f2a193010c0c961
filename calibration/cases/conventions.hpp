// What the words of a published run imply without saying: conventions/*.json, compiled in. A rule holds when
// each condition of its `when` does, and adds its `facts`; later rules override earlier ones, except that
// what they assume ("apart") adds up. A rule with `unless` holds only where no rule before it gave that fact:
// a default. A rule that is more than the plain reading of a word names its source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace wirewise {

struct RowMeaning {
    // "--option" of plan: its values, ready to type (none: a flag). Other keys: facts for the reader of the
    // row.
    std::map<std::string, std::vector<std::string>> facts;
    std::string set_aside;  // the first reason that holds; empty: within reach
};

// `row` is one published run, "group" added to it. Rules may ask for `described`: whether any rule names the
// group.
RowMeaning meaning_of(const nlohmann::json& row);

}  // namespace wirewise
