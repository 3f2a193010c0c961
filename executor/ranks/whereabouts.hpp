// Where a rank is in its run.
#pragma once

#include <string>

namespace wirewise {

struct Whereabouts {
    std::string text;          // for people
    bool within_step = false;  // where it must move on soon
    bool operator==(const Whereabouts&) const = default;
};

}  // namespace wirewise
