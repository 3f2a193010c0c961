// Paths that a file keeps to other files: stored relative to its own folder, so that both can move together,
// and found from wherever wirewise is called. A name that is no path (a built-in one) stays as it is.
#pragma once

#include <string>

namespace wirewise {

// What `file` should say for `name`: "./config.json", "../models/config.json" or, for no path, `name`.
std::string stored_beside(const std::string& name, const std::string& file);
// The path that `file`, saying `stored`, means.
std::string found_beside(const std::string& stored, const std::string& file);

}  // namespace wirewise
