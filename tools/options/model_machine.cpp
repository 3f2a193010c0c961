#include <CLI/CLI.hpp>

#include "tools/options/options.hpp"

namespace wirewise {

CLI::Option* ModelOptions::add_to(CLI::App& command, bool positional) {
    command.add_option("--set", set, "KEY=VALUE: override a key of the config")
        ->group("Model")
        ->take_all()
        ->expected(1);
    return command
        .add_option(positional ? "MODEL,--model" : "--model", model,
                    "a Hugging Face config.json, a folder holding one, or a built-in name")
        ->group("Model");
}

void MachineOptions::add_to(CLI::App& command, bool choose_gpus) {
    const char* group = "Machine";
    command
        .add_option("--machine", machine,
                    "a built-in name, our JSON, `nvidia-smi topo -m` text, NCCL topology XML, or -")
        ->required()
        ->group(group);
    command.add_option("--gpu", gpu, "the GPU's name, when the text does not say it")->group(group);
    command.add_option("--set-machine", set_machine, "POINTER=VALUE: edit the machine")
        ->group(group)
        ->take_all()
        ->expected(1);
    command.add_option("--without", without, "leave out: nvlink, nvswitch, p2p, nics")
        ->group(group)
        ->delimiter(',')
        ->take_all();
    command.add_option("--nodes", nodes, "that machine this many times [1]")->group(group);
    command.add_option("--fabric", fabric, "the network that joins the nodes")->group(group);
    command.add_option("--nccl-env", nccl_env, "K=V: what the job's environment will hold")
        ->group(group)
        ->take_all()
        ->expected(1);
    if (!choose_gpus) return;
    auto* count = command.add_option("--gpus", gpus, "GPUs per node; the best placement is searched [all]")
                      ->group(group);
    command.add_option("--gpu-ids", gpu_ids, "exactly these GPUs, in rank order: 0,1,4,5")
        ->group(group)
        ->excludes(count)
        ->check([](const std::string& ids) { return ids.empty() ? "names no GPU" : std::string(); });
}

}  // namespace wirewise
