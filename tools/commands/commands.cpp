#include "tools/commands/commands.hpp"

namespace wirewise {

void add_commands(CommandLine& line) {
    add_plan_command(line);
    add_what_if_command(line);
    add_solve_command(line);
    add_check_command(line);
    add_calibrate_command(line);
    add_run_command(line);
    add_bench_command(line);
    add_validate_command(line);
    add_export_command(line);
    add_place_command(line);
    add_collective_command(line);
    add_topo_command(line);
    add_model_command(line);
}

}  // namespace wirewise
