#pragma once

#include <string>
#include <vector>

namespace tempera::cli {

/// Runs the command that the arguments name, and says in one line what went wrong.
/// Returns the exit code of the program.
int run_program(const std::vector<std::string>& arguments);

}  // namespace tempera::cli
