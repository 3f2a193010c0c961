#include "tools/commands/commands.hpp"

namespace wirewise {

void add_commands(CommandLine& line) { add_model_command(line); }

}  // namespace wirewise
