#include "tools/run/load_module.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace wirewise {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLibrary = "libwirewise_cuda.so";

std::vector<fs::path> places() {
    if (const char* const named = std::getenv("WIREWISE_CUDA_LIBRARY")) return {named};
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    const fs::path root = here.parent_path();
    return {here / kLibrary, root / "lib" / "wirewise" / kLibrary, root / "lib64" / "wirewise" / kLibrary,
            root / "lib" / "x86_64-linux-gnu" / "wirewise" / kLibrary};
}

LoadedModule load() {
    for (const fs::path& place : places()) {
        std::error_code error;
        if (!fs::exists(place, error)) continue;
        void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) return {nullptr, dlerror()};
        const auto entry = reinterpret_cast<DeviceModuleEntry>(dlsym(library, kDeviceModuleEntry));
        if (!entry) return {nullptr, place.string() + " is not wirewise's CUDA executor"};
        return {entry(), {}};
    }
    return {nullptr, "this build has no CUDA executor"};
}

}  // namespace

const LoadedModule& cuda_module() {
    static const LoadedModule loaded = load();
    return loaded;
}

}  // namespace wirewise
