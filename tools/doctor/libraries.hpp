// Which of the libraries that a run on GPUs loads are here, in which version.
#pragma once

#include <string>
#include <vector>

namespace wirewise {

struct LibraryFound {
    std::string what;           // "NCCL"
    std::string file, version;  // empty: not found
};
std::vector<LibraryFound> libraries_here();

}  // namespace wirewise
