#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tempera::cli {

/// Whether the arguments of a command ask for its help: -h or --help where an option may be.
bool asks_for_help(const CLI::App& command, const std::vector<std::string>& arguments);

/// Refuses whatever the library that parses the options would read as something else, or refuse in
/// its own words: an unknown option (the nearest one is named), an option without a value or with
/// an empty one, a flag with a value, an option given twice, and an argument too many.
/// @throw BadInput
void check_arguments(const CLI::App& command, const std::vector<std::string>& arguments);

}  // namespace tempera::cli
