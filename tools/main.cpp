#include <csignal>
#include <cstdlib>

#include "tools/command_line.hpp"
#include "tools/commands/commands.hpp"

int main(int argc, char** argv) {
    std::signal(SIGINT, [](int) { std::_Exit(130); });
    wirewise::CommandLine line;
    wirewise::add_commands(line);
    return line.run(argc, argv);
}
