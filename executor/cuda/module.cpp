// What libwirewise_cuda.so exports.
#include "executor/cuda/bench.hpp"
#include "executor/cuda/cuda_executor.hpp"
#include "executor/cuda/device.hpp"

namespace {

class CudaModule final : public wirewise::DeviceModule {
  public:
    int device_count() const override { return wirewise::cuda::device_count(); }
    std::string device_name(int device) const override { return wirewise::cuda::device_name(device); }
    std::vector<std::pair<std::string, std::string>> versions() const override {
        return wirewise::cuda::library_versions();
    }
    std::unique_ptr<wirewise::Executor> make(const wirewise::Transformer& model,
                                             const wirewise::ParallelPlan& plan,
                                             const wirewise::Hyperparameters& numbers,
                                             const wirewise::DeviceRank& rank) override {
        return wirewise::cuda::make_cuda_executor(model, plan, numbers, rank);
    }
    wirewise::DeviceCosts measure_device(int device) override {
        return wirewise::cuda::measure_device(device);
    }
    std::vector<wirewise::KernelTiming> measure_kernels(const wirewise::Transformer& model,
                                                        const wirewise::ParallelPlan& plan,
                                                        int device) override {
        return wirewise::cuda::measure_kernels(model, plan, device);
    }
    wirewise::WireCosts measure_wires(const wirewise::DeviceRank& rank,
                                      const std::function<void(const std::string&)>& progress) override {
        return wirewise::cuda::measure_wires(rank, progress);
    }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) wirewise::DeviceModule* wirewise_device_module() {
    static CudaModule module;
    return &module;
}
