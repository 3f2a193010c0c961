#pragma once

#include <algorithm>
#include <vector>

namespace wirewise {

// The lower one of an even number; `values` is not empty.
template <class Value>
Value median(std::vector<Value> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace wirewise
