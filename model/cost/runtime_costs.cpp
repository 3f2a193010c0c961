#include "model/cost/runtime_costs.hpp"

namespace wirewise {
namespace {

// Our executor: one thread that only launches. CUDA launch 4-5 us; context, libraries and NCCL buffers by
// cudaMemGetInfo on 2x H200, 2026-11-30.
RuntimeCosts native() {
    RuntimeCosts costs;
    costs.kernel = 4.5_us;
    costs.collective = 15_us;
    costs.copy = 4.5_us;
    costs.event = 1_us;
    costs.hook = costs.optimizer_loop = Seconds(0);
    costs.synchronize = 20_us;
    costs.run_ahead = 1000;
    costs.context_bytes = 541_MiB;
    costs.communicator_bytes = {{"p2p", 858_MiB}, {"shm", 390_MiB}, {"net", 390_MiB}};
    return costs;
}

// PyTorch eager: of each kernel the dispatch, the launch and the autograd node; of FSDP's hooks one pass of
// Python over a group's parameters. Numbers, origin and errors as in h200-sxm.json: one host, a slow one;
// calibrate where steps are short. Process memory: device use minus reserved of 33 training steps on 2x H200.
RuntimeCosts pytorch() {
    RuntimeCosts costs;
    costs.kernel = 33_us;
    costs.collective = 22_us;
    costs.copy = 15_us;
    costs.event = 2_us;
    costs.hook = 255_us;
    costs.optimizer_loop = 5_us;
    costs.synchronize = 20_us;
    costs.run_ahead = 1000;
    costs.context_bytes = 1'200'000'000_B;
    costs.communicator_bytes = {{"p2p", 504'000'000_B}, {"shm", 13'000'000_B}, {"net", 0_B}};
    return costs;
}

// DeepSpeed on PyTorch eager. ZeRO-3 runs Python before and after every module, forward and backward, and per
// gradient: a 12-layer model of 254 M parameters takes 104 ms a step on one GPU and 119 ms on four, 32 layers
// take 508 ms (DeepSpeedExamples, training/bf16_master_weight/README.md, read 2026-11), of which the GPU
// needs a tenth. Launches as on a usual server host. Process memory: PyTorch's. The launcher gives each
// process one OpenMP thread, which the CPU's optimizer, its casts and checks of gradients use: an offloaded
// step of LLaMA-7B on 8 GPUs takes 17 to 20 s more for 0.84e9 parameters a rank (gist chenyaofo/d4cd6a20,
// read 2026-11, three rows).
RuntimeCosts deepspeed() {
    RuntimeCosts costs = pytorch();
    costs.kernel = 10_us;
    costs.collective = 30_us;
    costs.hook = 200_us;
    costs.host_rate = 1.9_GBps;
    return costs;
}

}  // namespace

std::map<std::string, RuntimeCosts> default_runtimes() {
    return {{"native", native()}, {"pytorch", pytorch()}, {"deepspeed", deepspeed()}};
}

}  // namespace wirewise
