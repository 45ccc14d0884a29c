#pragma once

#include <string>

namespace tempera::cli {

/// "0.2.0".
std::string version_number();

/// Version, commit, device system and instruction set of this binary, a line each.
std::string version_text();

}  // namespace tempera::cli
