#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "model/collectives/pricer.hpp"
#include "model/units/error.hpp"
#include "model/units/text.hpp"
#include "simulator/planner/placement.hpp"
#include "tools/commands/commands.hpp"
#include "tools/inputs/machine.hpp"
#include "tools/inputs/profile.hpp"
#include "tools/inputs/words.hpp"

namespace wirewise {

namespace {

struct Options {
    MachineOptions machine;
    OutputOptions output;
    std::string op, sweep, profile;
    std::vector<std::string> bytes;
};

CollectiveKind kind_of(const std::string& name) {
    if (const auto kind = collective_from(name)) return *kind;
    throw InputError("--op", fmt::format("unknown collective \"{}\"", name),
                     fmt::format("write one of {}", fmt::join(kCollectiveNames, ", ")));
}

// Powers of two from the first to the second size.
std::vector<Bytes> sweep_of(const std::string& text) {
    const auto ends = split(text, ':');
    if (ends.size() != 2)
        throw InputError("--sweep", fmt::format("\"{}\" is not FROM:TO", text),
                         "write for example 1KiB:1GiB");
    const Bytes from = parse_bytes(ends[0], "--sweep"), to = parse_bytes(ends[1], "--sweep");
    if (from < 1_B || to < from)
        throw InputError("--sweep", "does not go upwards from at least one byte",
                         "write for example 1KiB:1GiB");
    std::vector<Bytes> sizes;
    for (Bytes size = from; size <= to; size *= 2) sizes.push_back(size);
    return sizes;
}

std::vector<Bytes> sizes_of(const Options& options) {
    std::vector<Bytes> sizes = options.sweep.empty() ? std::vector<Bytes>{} : sweep_of(options.sweep);
    for (const std::string& text : options.bytes) {
        sizes.push_back(parse_bytes(text, "--bytes"));
        if (sizes.back() < 1_B) throw InputError("--bytes", "is zero", "write for example 1GiB");
    }
    if (sizes.empty())
        throw InputError("--bytes", "is missing", "write for example --bytes 1GiB or --sweep 1KiB:1GiB");
    return sizes;
}

std::vector<int> gpus_of(const Options& options, const Machine& machine, const NcclEnvironment& environment) {
    auto gpus = named_gpus(options.machine, machine);
    if (gpus.empty()) gpus = choose_gpus(machine, environment, gpus_per_node(options.machine, machine)).gpus;
    if (gpus.size() < 2) throw InputError("--gpus", "a collective needs at least two GPUs", "choose more");
    return gpus;
}

Json price_json(Bytes bytes, const CollectivePrice& price) {
    return {{"bytes", bytes.count()},
            {"seconds", price.seconds.value()},
            {"algbw_bytes_per_second", price.algbw.value()},
            {"busbw_bytes_per_second", price.busbw.value()},
            {"busbw_range_bytes_per_second", {price.busbw_low.value(), price.busbw_high.value()}},
            {"algorithm", price.algorithm},
            {"protocol", price.protocol},
            {"transport", price.transport},
            {"channels", price.channels},
            {"measured", price.measured},
            {"bottleneck", price.bottleneck},
            {"bound_busbw_bytes_per_second", price.bound_busbw.value()}};
}

std::vector<std::string> price_row(Bytes bytes, const CollectivePrice& price) {
    const auto rate = [](BytesPerSecond value) { return fmt::format("{:.2f}", value.value() / 1e9); };
    return {std::to_string(bytes.count()),
            fmt::format("{:.1f}", price.seconds.value() * 1e6),
            rate(price.algbw),
            rate(price.busbw),
            rate(price.bound_busbw),
            std::string(price.algorithm),
            std::string(price.protocol),
            std::string(price.bottleneck)};
}

// Whether the price is of what NCCL_ALGO and NCCL_PROTO allow; pairs of sends and receives know neither.
bool obeys(const CollectivePrice& price, CollectiveKind kind, const NcclEnvironment& environment) {
    return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_recv ||
           environment.allows(price.algorithm, price.protocol);
}

Report collective(const Options& options) {
    Report report;
    const CollectiveKind kind = kind_of(options.op);
    const Machine machine = machine_of(options.machine, report.warnings);
    const NcclEnvironment environment = environment_of(options.machine, report.warnings);
    const auto gpus = gpus_of(options, machine, environment);
    const CollectiveSamples samples = samples_of(options.profile);
    const CollectivePricer pricer(machine, environment, {gpus}, &samples);
    report.document = {{"schema", "wirewise.collective/1"},
                       {"machine", machine.name},
                       {"nodes", machine.servers},
                       {"gpus", gpus},
                       {"op", name_of(kind)},
                       {"results", Json::array()}};
    report.records = "results";
    report.tables.push_back(
        {fmt::format("{} over {} GPUs of {}", name_of(kind), gpus.size(), machine.name),
         {"bytes", "us", "algbw GB/s", "busbw GB/s", "bound GB/s", "<algorithm", "<protocol", "<bottleneck"},
         {},
         -1});
    bool pinned_away = false;
    for (const Bytes bytes : sizes_of(options)) {
        const CollectivePrice price = pricer.price(kind, bytes);
        pinned_away = pinned_away || !obeys(price, kind, environment);
        report.document["results"].push_back(price_json(bytes, price));
        report.tables.front().rows.push_back(price_row(bytes, price));
    }
    if (pinned_away)
        report.warnings.push_back(
            fmt::format("--nccl-env leaves {} no algorithm and protocol that these GPUs have: the ring with "
                        "Simple is priced",
                        name_of(kind)));
    return report;
}

}  // namespace

void add_collective_command(CommandLine& line) {
    CLI::App& command = line.add("collective", "time and bus bandwidth of a collective on these wires");
    auto options = std::make_shared<Options>();
    options->machine.add_to(command);
    command
        .add_option("--op", options->op,
                    "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_recv")
        ->required();
    command.add_option("--bytes", options->bytes, "the full buffer: 1GiB (repeatable)")
        ->take_all()
        ->delimiter(',');
    command.add_option("--sweep", options->sweep, "FROM:TO, doubling: 1KiB:1GiB");
    command.add_option("--profile", options->profile, "data-sheet: leave measured collectives out");
    options->output.add_to(command);
    line.answer(command, options->output, [options] { return collective(*options); });
}

}  // namespace wirewise
