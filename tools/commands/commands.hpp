// One source per command; each adds itself to the command line.
#pragma once

#include "tools/command_line.hpp"

namespace wirewise {

void add_commands(CommandLine& line);

void add_plan_command(CommandLine& line);
void add_model_command(CommandLine& line);
void add_what_if_command(CommandLine& line);
void add_solve_command(CommandLine& line);
void add_check_command(CommandLine& line);
void add_topo_command(CommandLine& line);
void add_collective_command(CommandLine& line);
void add_place_command(CommandLine& line);
void add_export_command(CommandLine& line);
void add_calibrate_command(CommandLine& line);
void add_bench_command(CommandLine& line);
void add_run_command(CommandLine& line);
void add_validate_command(CommandLine& line);

}  // namespace wirewise
