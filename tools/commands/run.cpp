#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <CLI/CLI.hpp>

#include "model/units/error.hpp"
#include "tools/commands/commands.hpp"
#include "tools/run/job_environment.hpp"
#include "tools/run/ranks.hpp"
#include "tools/run/session.hpp"

namespace wirewise {

namespace {

// Better now than after a day of training.
void require_writable(const std::string& path, const char* option) {
    if (path.empty()) return;
    std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();  // "folder/" is the folder
    const std::filesystem::path parent = whole.parent_path();
    const auto refuse = [&] {
        throw InputError(option, "nothing can be written to " + parent.string(),
                         "name a folder that may be written");
    };
    if (::access(parent.c_str(), W_OK) != 0) refuse();
    // Some folders let nobody in whatever their mode says: /proc, file systems mounted for reading.
    std::string probe = (parent / ".wirewise-XXXXXX").string();
    const int file = ::mkstemp(probe.data());
    if (file < 0) refuse();
    ::close(file);
    ::unlink(probe.c_str());
}

void require_another_folder(const RunOptions& options) {
    std::error_code error;
    if (!options.save.empty() && !options.checkpoint.empty() &&
        std::filesystem::equivalent(options.save, options.checkpoint, error))
        throw InputError("--save", options.save + " is the folder of --checkpoint", "name another folder");
}

void require_own_host(const RunOptions& options, bool started_elsewhere) {
    if (options.machine.nodes != 1 && !started_elsewhere)
        throw InputError("--nodes", "ranks run on this machine alone unless a launcher starts them on others",
                         "leave it out, or start the ranks with torchrun, srun or mpirun");
}

void require_room_for_files(const RunOptions& options) {
    require_another_folder(options);
    require_writable(options.save, "--save");
    require_writable(options.save_gradients, "--save-gradients");
    require_writable(options.trace, "--trace");
    require_writable(options.calibrate, "--calibrate");
}

Report run_rank(RunOptions options, const RankPlace& place) {
    const InterruptWatch interrupt(place.launched_by_us ? Interrupts::ignored : Interrupts::noted);
    if (place.rank > 0) options.output.quiet = true;
    return run_as_rank(place, options.ranks, [&](TcpRendezvous& ranks) {
        require_own_host(options, true);
        if (place.rank == 0) require_room_for_files(options);
        enter_job_environment(options.machine);
        const auto backend = backend_of(options.backend);
        RunInputs inputs =
            run_inputs_of(options, {backend->most_ranks(), ranks_started(place, options.machine)});
        if (backend->name() == "host") warn_of_machine(options, inputs.warnings);
        return train_and_report(options, inputs, *backend, &ranks, interrupt);
    });
}

Report run(const RunOptions& options) {
    if (const auto place = own_place()) return run_rank(options, *place);
    require_own_host(options, false);
    require_room_for_files(options);
    enter_job_environment(options.machine);
    const auto backend = backend_of(options.backend);
    RunInputs inputs = run_inputs_of(options, {backend->most_ranks(), std::nullopt});
    if (backend->name() == "host") warn_of_machine(options, inputs.warnings);
    backend->place_ranks(inputs);
    if (options.ranks.processes || (backend->needs_processes() && inputs.plan.mesh.world() > 1)) {
        weights_of(options, inputs);  // what is wrong with them is said once
        return launch_ranks(options.ranks, inputs.plan.mesh.world());
    }
    const InterruptWatch interrupt;
    return train_and_report(options, inputs, *backend, nullptr, interrupt);
}

}  // namespace

void add_run_command(CommandLine& line) {
    CLI::App& command =
        line.add("run", "train for real, exactly as the plan says, and compare with the prediction");
    auto options = std::make_shared<RunOptions>();
    options->add_to(command);
    line.answer(command, options->output, [options] { return run(*options); });
}

}  // namespace wirewise
