#pragma once

#include <string>
#include <vector>

namespace tempera::cli {

/// Replaces this process by Python's `tempera.eval` with these arguments. The package is that of
/// Python, or else the one that comes with the command; it calls this command to sample.
/// @throw BadInput if there is no Python
[[noreturn]] void run_eval(const std::vector<std::string>& arguments);

}  // namespace tempera::cli
