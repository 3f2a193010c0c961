#include "tools/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include <CLI/CLI.hpp>

#include "executor/ranks/ending.hpp"
#include "model/units/error.hpp"
#include "tools/inputs/words.hpp"
#include "tools/interrupt.hpp"

namespace wirewise {

namespace {

constexpr int kFault = 1, kBadInput = 2, kFailedRun = 4, kInterrupted = 130;

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options({}))
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

// On one line; what a file smuggled into the message cannot steer the terminal.
int complain(int code, std::string message) {
    std::replace_if(
        message.begin(), message.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    std::fprintf(stderr, "wirewise: error: %s\n", message.c_str());
    return code;
}

// The value of a shell variable that is not set: CLI11 would pass over most of them.
void refuse_empty(int argc, const char* const* argv) {
    const auto refuse = [](std::string_view place) {
        throw InputError(std::string(place), "is given an empty value", "write a value, or leave it out");
    };
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i], before = argv[i - 1];
        if (word.empty()) refuse(i > 1 && before.starts_with("--") ? before : "wirewise");
        if (word.starts_with("--") && word.size() > 3 && word.find('=') == word.size() - 1)
            refuse(word.substr(0, word.size() - 1));
    }
}

}  // namespace

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>("Which training strategy, on which GPUs, over which wires?",
                                      "wirewise")) {
    app_->set_version_flag("--version", "wirewise " WIREWISE_VERSION);
    app_->require_subcommand(1);
    app_->get_formatter()->column_width(36);
}

CommandLine::~CommandLine() = default;

CLI::App& CommandLine::add(const std::string& name, const std::string& description) {
    return *app_->add_subcommand(name, description);
}

void CommandLine::answer(CLI::App& command, const OutputOptions& output, std::function<Report()> question) {
    command.callback([this, &output, question = std::move(question)] {
        const Report report = question();
        if (!report.silent) write(report, output);
        exit_code_ = report.exit_code;
    });
}

// An unknown command is named before CLI11 complains that none was given.
void CommandLine::parse(int argc, const char* const* argv) {
    const auto names = command_names(*app_);
    if (argc > 1 && argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end())
        throw InputError("wirewise", fmt::format("unknown command \"{}\"", argv[1]),
                         remedy_from(argv[1], names));
    refuse_empty(argc, argv);
    app_->parse(argc, argv);
}

std::string CommandLine::explain(const CLI::ParseError& error) const {
    const CLI::App* command = app_->get_subcommands().empty() ? app_.get() : app_->get_subcommands().front();
    const std::string place = command == app_.get() ? "wirewise" : "wirewise " + command->get_name();
    const auto extras = app_->remaining(true);
    for (const auto& extra :
         extras) {  // an unknown option explains more than what CLI11 found missing because of it
        if (!extra.starts_with("-")) continue;
        const std::string word = extra.substr(0, extra.find('='));
        return fmt::format("{}: unknown option \"{}\"; {}", place, word,
                           remedy_from(word, option_names(*command)));
    }
    if (!extras.empty())
        return fmt::format("{}: unexpected word \"{}\"; {} --help lists what there is", place, extras.front(),
                           place);
    return fmt::format("{}: {}; {} --help says more", place, error.what(), place);
}

int CommandLine::run(int argc, const char* const* argv) {
    try {
        parse(argc, argv);
        return exit_code_;
    } catch (const CLI::Success& wanted) {  // --help, --version
        return app_->exit(wanted);
    } catch (const CLI::ParseError& error) {
        return complain(kBadInput, explain(error));
    } catch (const InputError& error) {
        return complain(kBadInput, error.what());
    } catch (const Interrupted&) {
        return kInterrupted;
    } catch (const RunEnded& error) {
        return error.exit_code() == kInterrupted ? kInterrupted : complain(error.exit_code(), error.what());
    } catch (const RunError& error) {
        return complain(kFailedRun, error.what());
    } catch (const OverflowError& error) {
        return complain(
            kBadInput,
            fmt::format("a quantity leaves the range that can be computed ({}); use a smaller model, "
                        "batch or sequence",
                        error.what()));
    } catch (const std::bad_alloc&) {
        return complain(kBadInput,
                        "this question needs more memory than there is; use a smaller model or batch");
    } catch (const std::exception& error) {
        return complain(
            kFault, fmt::format("{} (a fault of wirewise: please report it with the command)", error.what()));
    }
}

void write(const Report& report, const OutputOptions& output) {
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    const Format format = report.raw.empty() ? format_from(output.format, terminal) : Format::json;
    if (!output.quiet)
        for (const auto& warning : report.warnings)
            std::fprintf(stderr, "wirewise: warning: %s\n", warning.c_str());
    for (const auto& error : report.errors) complain(0, error);
    const std::string text = render(report, format, terminal);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw InputError("standard output", "cannot be written", "check where it leads and the room there");
}

}  // namespace wirewise
