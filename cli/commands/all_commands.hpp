#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tempera::cli {

/// Adds every command that this program has, and the examples of its help. There are two programs:
/// tempera, and tempera-sample-only, which has neither lab/ nor reference/ in it (cli/sample_only).
void add_commands(CLI::App& program);

/// Replaces this process by the program that the command is, if it is another one: it reads its own
/// arguments, the help of its stages too.
/// @throw BadInput if that program is missing
void run_if_another_program(const std::string& command, const std::vector<std::string>& arguments);

}  // namespace tempera::cli
