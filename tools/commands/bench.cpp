#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include <CLI/CLI.hpp>

#include "model/topology/import.hpp"
#include "model/topology/json_layout.hpp"
#include "model/topology/machine_json.hpp"
#include "model/transformer/read_config.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "tools/bench/bench_samples.hpp"
#include "tools/bench/wires.hpp"
#include "tools/commands/commands.hpp"
#include "tools/doctor/devices.hpp"
#include "tools/inputs/files.hpp"
#include "tools/inputs/training.hpp"
#include "tools/inputs/words.hpp"
#include "tools/interrupt.hpp"
#include "tools/render/progress.hpp"
#include "tools/run/job_environment.hpp"
#include "tools/run/load_module.hpp"
#include "tools/run/rank_options.hpp"
#include "tools/run/ranks.hpp"

namespace wirewise {

namespace {

constexpr int kDevice = 0;  // of those that are visible

struct Options {
    std::string out, measure = "device,kernels,wires", wires;
    std::vector<std::string> models{"mistral-7b", "qwen3-1.7b"};
    MachineOptions machine;
    RankOptions ranks;
    OutputOptions output;
    bool wants(const std::string& part) const {
        const std::vector<std::string> parts = split(measure, ',');
        return std::find(parts.begin(), parts.end(), part) != parts.end();
    }
};

void require_known(const std::string& words, const std::vector<std::string>& known, const char* option) {
    for (const std::string& word : split(words, ','))
        if (std::find(known.begin(), known.end(), word) == known.end())
            throw InputError(option, "unknown \"" + word + "\"", remedy_from(word, known));
}

// The wires that are asked for; all.
std::vector<WireChoice> chosen_wires(const Options& options) {
    if (options.wires.empty()) return wire_choices();
    std::vector<std::string> names;
    for (const WireChoice& wire : wire_choices()) names.push_back(wire.name);
    require_known(options.wires, names, "--wires");
    std::vector<WireChoice> chosen;
    for (const std::string& word : split(options.wires, ','))
        for (const WireChoice& wire : wire_choices())
            if (wire.name == word) chosen.push_back(wire);
    return chosen;
}

DeviceModule& module_here() {
    const LoadedModule& loaded = cuda_module();
    if (!loaded.module)
        throw InputError("bench", "cannot use CUDA: " + loaded.why, "run it where there is a GPU");
    if (loaded.module->device_count() == 0)
        throw InputError("bench", "no NVIDIA GPU or driver here", "run it where there is a GPU");
    return *loaded.module;
}

// Where nobody names the machine, a file beside the samples says what it is: calibrate prices its wires. One
// rank writes it.
std::string machine_of_samples(const Options& options, bool writes) {
    if (!options.machine.machine.empty()) return options.machine.machine;
    const std::string file = options.out + ".machine.json";
    if (writes) write_file(file, laid_out(to_json(machine_here())), "--out");
    return file;
}

BenchOrigin origin_of(const Options& options, const DeviceModule& module, bool writes) {
    std::string libraries;
    for (const auto& [name, version] : module.versions()) libraries += fmt::format(", {} {}", name, version);
    const std::string gpu = module.device_name(kDevice);
    return {machine_of_samples(options, writes),
            fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))),
            fmt::format("measured: wirewise bench, {}, driver {}{}", gpu, devices_here().driver, libraries)};
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
void add_kernels(const Options& options, DeviceModule& module, const BenchOrigin& origin,
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
            for (const KernelTiming& timing : module.measure_kernels(model, plan, kDevice))
                if (const auto row = kernel_row(timing, origin);
                    row && seen.insert(to_text(timing.kernel)).second)
                    rows.push_back(*row);
        }
    }
}

void add_device(DeviceModule& module, const BenchOrigin& origin, Json& rows) {
    const DeviceCosts costs = module.measure_device(kDevice);
    rows.push_back(memory_row(costs, origin));
    rows.push_back(launch_row(costs.launch, origin));
    for (const TransferTiming& timing : costs.transfers) rows.push_back(transfer_row(timing, origin));
}

void write_rows(const Json& rows, const std::string& file) {
    std::string lines;
    for (const Json& row : rows) lines += row.dump() + "\n";
    write_file(file, lines, "--out");
}

int gpus_of(const Options& options, const DeviceModule& module) {
    const int here = module.device_count();
    const int gpus = options.machine.gpus.value_or(here);
    if (gpus > here)
        throw InputError("--gpus", fmt::format("{} of the {} GPUs here", gpus, here),
                         fmt::format("write 1 to {}", here));
    return gpus;
}

// In processes of their own, one a GPU: NCCL reads its variables once. What was measured before is in the
// file already should they fail.
void add_wires(const Options& options, int gpus, const BenchOrigin& origin, const InterruptWatch& interrupt,
               Json& rows) {
    if (gpus < 2) return;
    const std::string part = options.out + ".part";
    for (const WireChoice& wire : chosen_wires(options)) {
        interrupt.check();
        write_rows(rows, options.out);
        RankCommand command;
        command.words = {command.words.front(), "bench",       "--measure", "wires", "--out", part,
                         "--machine",           origin.machine};
        if (options.output.quiet) command.words.emplace_back("--quiet");
        command.variables = wire.variables;
        launch_ranks(options.ranks, gpus, command);
        interrupt.check();  // launch_ranks returns then
        std::ifstream file(part);
        for (std::string line; std::getline(file, line);) rows.push_back(Json::parse(line));
        std::filesystem::remove(part);
    }
}

Report answer(const Options& options, const Json& rows) {
    write_rows(rows, options.out);
    Report report{.document = {{"schema", "wirewise.bench/1"}, {"samples", rows}}};
    report.records = "samples";
    report.after = {fmt::format("{} samples written to {}.", rows.size(), options.out)};
    return report;
}

// One of the ranks that measure the wires together.
Report bench_as_rank(const Options& options, const RankPlace& place) {
    return run_as_rank(place, options.ranks, [&](TcpRendezvous& ranks) {
        DeviceModule& module = module_here();
        const Json rows =
            measure_wires(module, ranks, origin_of(options, module, place.rank == 0), options.output.quiet);
        if (place.rank == 0) write_rows(rows, options.out);
        return Report{.silent = true};
    });
}

// What is wrong with the options is said wherever they are typed, a GPU there or not.
void check(const Options& options) {
    require_known(options.measure, {"device", "kernels", "wires"}, "--measure");
    chosen_wires(options);
    for (const std::string& model : options.models) load_model(model, {});
    if (options.machine.gpus) positive(*options.machine.gpus, "--gpus");
    std::vector<std::string> warnings;
    if (!options.machine.machine.empty()) load_machine(options.machine.machine, {}, warnings);
}

Report bench(const Options& options) {
    check(options);
    enter_job_environment(options.machine);
    if (const auto place = own_place()) return bench_as_rank(options, *place);
    const InterruptWatch interrupt;
    DeviceModule& module = module_here();
    const int gpus = gpus_of(options, module);
    Json rows = Json::array();
    const BenchOrigin origin = origin_of(options, module, true);
    if (options.wants("device")) add_device(module, origin, rows);  // before anything else uses the device
    if (options.wants("kernels")) add_kernels(options, module, origin, interrupt, rows);
    if (options.wants("wires")) add_wires(options, gpus, origin, interrupt, rows);
    return answer(options, rows);
}

}  // namespace

void add_bench_command(CommandLine& line) {
    CLI::App& command = line.add(
        "bench", "measure this machine: kernels, copies, launches, fixed memory, collectives on every wire");
    auto options = std::make_shared<Options>();
    command.add_option("--out", options->out, "the samples, one JSON object a line")->required();
    command.add_option("--measure", options->measure, "device, kernels, wires [all]");
    command.add_option(
        "--wires", options->wires,
        "p2p; shm: through host memory; net: sockets. Others than p2p by NCCL's variables [all]");
    command.add_option("--machine", options->machine.machine,
                       "a built-in or a file that describes this machine [written to OUT.machine.json]");
    command.add_option("--model", options->models, "whose kernels (repeatable) [mistral-7b, qwen3-1.7b]");
    CLI::Option* const gpus = command.add_option("--gpus", options->machine.gpus, "how many GPUs [all]");
    command
        .add_option("--gpu-ids", options->machine.gpu_ids,
                    "exactly these GPUs, the kernels on the first: 0,1")
        ->excludes(gpus);
    command.add_option("--nccl-env", options->machine.nccl_env, "K=V: for every rank (repeatable)");
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return bench(*options); });
}

}  // namespace wirewise
