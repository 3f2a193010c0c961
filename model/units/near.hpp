// "Did you mean": the names nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wirewise {

// At most `most` of `names`, nearest first by edit distance; names that contain `wanted` come before others.
std::vector<std::string> near_names(std::string_view wanted, std::vector<std::string> names,
                                    std::size_t most = 5);

}  // namespace wirewise
