#include "tools/doctor/libraries.hpp"

#include <fmt/format.h>

#include "tools/doctor/shared_library.hpp"

namespace wirewise {

namespace {

// How a library packs major, minor and patch into one number.
struct Packing {
    std::int64_t major, minor;
};
constexpr Packing kCuda{1000, 10}, kTenThousand{10000, 100};

std::string unpacked(std::int64_t version, Packing packing) {
    return fmt::format("{}.{}.{}", version / packing.major, version % packing.major / packing.minor,
                       version % packing.minor);
}

// int f(int*): 0 is success.
std::string by_pointer(const SharedLibrary& library, const char* symbol, Packing packing) {
    const auto function = library.find<int(int*)>(symbol);
    int version = 0;
    return function && function(&version) == 0 && version > 0 ? unpacked(version, packing) : std::string();
}

// size_t f().
std::string by_value(const SharedLibrary& library, const char* symbol, Packing packing) {
    const auto function = library.find<std::size_t()>(symbol);
    return function ? unpacked(static_cast<std::int64_t>(function()), packing) : std::string();
}

}  // namespace

std::vector<LibraryFound> libraries_here() {
    const SharedLibrary runtime{"libcudart.so.13", "libcudart.so.12", "libcudart.so"},
        nccl{"libnccl.so.2", "libnccl.so"}, cudnn{"libcudnn.so.9", "libcudnn.so"},
        blas{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    return {{"CUDA runtime", runtime.name(), by_pointer(runtime, "cudaRuntimeGetVersion", kCuda)},
            {"NCCL", nccl.name(), by_pointer(nccl, "ncclGetVersion", kTenThousand)},
            {"cuDNN", cudnn.name(), by_value(cudnn, "cudnnGetVersion", kTenThousand)},
            {"cuBLASLt", blas.name(), by_value(blas, "cublasLtGetVersion", kTenThousand)}};
}

}  // namespace wirewise
