#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <set>

#include <CLI/CLI.hpp>

#include "model/transformer/read_config.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/bench/bench_samples.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/files.hpp"
#include "tools/interrupt.hpp"
#include "tools/render/progress.hpp"
#include "tools/run/load_module.hpp"

namespace wirewise {

namespace {

struct Options {
    std::string out, machine;
    std::vector<std::string> models{"mistral-7b"};
    int device = 0;
    OutputOptions output;
};

DeviceModule& module_of(const Options& options) {
    const LoadedModule& loaded = cuda_module();
    if (!loaded.module)
        throw InputError("bench", "cannot use CUDA: " + loaded.why, "run it where there is a GPU");
    if (options.device < 0 || options.device >= loaded.module->device_count())
        throw InputError("--gpu-ids", fmt::format("there is no GPU {} here", options.device),
                         "run it where there is a GPU, and name one that is there");
    return *loaded.module;
}

BenchOrigin origin_of(const Options& options, const DeviceModule& module) {
    std::string libraries;
    for (const auto& [name, version] : module.versions()) libraries += fmt::format(", {} {}", name, version);
    const std::string gpu = module.device_name(options.device);
    return {options.machine.empty() ? gpu : options.machine,
            fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))),
            fmt::format("measured: wirewise bench, {}{}", gpu, libraries)};
}

// Lengths of the batch at which kernels are timed; the dtypes of the second kind price the optimizer in fp32.
std::vector<ParallelPlan> plans() {
    std::vector<ParallelPlan> all;
    for (const auto& [sequence, micro_batch] :
         {std::pair{512, 1}, {2048, 1}, {4096, 1}, {4096, 2}, {4096, 4}, {8192, 1}}) {
        ParallelPlan plan;
        plan.sequence_length = sequence;
        plan.micro_batch = micro_batch;
        plan.precision.optimizer_state = DType::bf16;
        all.push_back(plan);
    }
    return all;
}

// Each distinct kernel once, however many plans have it.
void measure(const Options& options, DeviceModule& module, const BenchOrigin& origin,
             const InterruptWatch& interrupt, Json& rows) {
    Progress progress("bench", options.output.quiet);
    const std::vector<ParallelPlan> lengths = plans();
    std::set<std::string> seen;
    std::size_t done = 0;
    for (const std::string& name : options.models) {
        const Transformer model = load_model(name, {"num_hidden_layers=2"});
        for (const ParallelPlan& plan : lengths) {
            interrupt.check();
            progress.step(done++, options.models.size() * lengths.size(),
                          fmt::format("{}, {} tokens", name, plan.tokens_per_micro_batch()));
            for (const KernelTiming& timing : module.measure_kernels(model, plan, options.device))
                if (const auto row = kernel_row(timing, origin);
                    row && seen.insert(to_text(timing.kernel)).second)
                    rows.push_back(*row);
        }
    }
}

Report bench(const Options& options) {
    const InterruptWatch interrupt;
    DeviceModule& module = module_of(options);
    const DeviceCosts costs =
        module.measure_device(options.device);  // first: before anything uses the device
    const BenchOrigin origin = origin_of(options, module);
    Json rows = Json::array();
    rows.push_back(memory_row(costs, origin));
    rows.push_back(launch_row(costs.launch, origin));
    for (const TransferTiming& timing : costs.transfers) rows.push_back(transfer_row(timing, origin));
    measure(options, module, origin, interrupt, rows);
    std::string lines;
    for (const Json& row : rows) lines += row.dump() + "\n";
    write_file(options.out, lines, "--out");
    Report report{.document = {{"schema", "wirewise.bench/1"}, {"samples", rows}}};
    report.records = "samples";
    report.after = {fmt::format("{} samples written to {}.", rows.size(), options.out)};
    return report;
}

}  // namespace

void add_bench_command(CommandLine& line) {
    CLI::App& command =
        line.add("bench", "measure this machine's GPU: kernels, copies, launches, fixed memory");
    auto options = std::make_shared<Options>();
    command.add_option("--out", options->out, "the samples, one JSON object a line")->required();
    command.add_option("--machine", options->machine, "the machine's name in the samples [the GPU's]");
    command.add_option("--model", options->models, "whose kernels (repeatable) [mistral-7b]");
    command.add_option("--gpu-ids", options->device, "which GPU [0]");
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return bench(*options); });
}

}  // namespace wirewise
