// "Did you mean": the names nearest to a misspelt one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wirewise {

// Levenshtein's distance: insertions, deletions and replacements.
std::size_t edit_distance(std::string_view a, std::string_view b);

// At most `most` of `names`, nearest first by edit distance; names that contain `wanted` come before others.
std::vector<std::string> near_names(std::string_view wanted, std::vector<std::string> names,
                                    std::size_t most = 5);

}  // namespace wirewise
