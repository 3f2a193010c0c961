// The backend that runs on GPUs: its executor is a library of its own, loaded when a run asks for it.
#pragma once

#include "tools/run/backend.hpp"

namespace wirewise {

// Throws InputError where the library, a library it needs, or a GPU is missing.
std::unique_ptr<Backend> make_cuda_backend();
// Null instead.
std::unique_ptr<Backend> find_cuda_backend();

}  // namespace wirewise
