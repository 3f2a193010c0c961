// The command line: parses, runs the chosen command, writes its report, and turns every failure into one
// clear message and an exit code (0 done, 1 a fault of ours, 2 bad usage or input, 3 nothing fits or a limit
// is not met, 4 a real run failed, 130 interrupted).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tools/options/options.hpp"
#include "tools/render/report.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace wirewise {

class CommandLine {
  public:
    CommandLine();
    ~CommandLine();

    // A new command, to which option groups are added.
    CLI::App& add(const std::string& name, const std::string& description);
    // What the command does once its options are parsed: makes a report, which is written as `output` says.
    // The function keeps the option values alive (capture them by shared pointer).
    void answer(CLI::App& command, const OutputOptions& output, std::function<Report()> question);

    // Parses and runs; returns the exit code and never throws.
    int run(int argc, const char* const* argv);

  private:
    void parse(int argc, const char* const* argv);
    std::string explain(const CLI::ParseError& error) const;

    std::unique_ptr<CLI::App> app_;
    int exit_code_ = 0;
};

// Writes a report to standard output and its warnings to standard error.
void write(const Report& report, const OutputOptions& output);

}  // namespace wirewise
