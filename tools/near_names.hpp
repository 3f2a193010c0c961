// "did you mean ...": names close to one that was mistyped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wirewise {

// Letters to insert, remove, replace or swap to get from one to the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Up to three names within a third of the word's length, or starting with the word; nearest first.
std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& names);

// "did you mean --gpus or --gpu?", empty when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace wirewise
