#pragma once

#include <string>

namespace tempera::cli {

/// Version, commit, device system and instruction set of this binary, a line each.
std::string version_text();

}  // namespace tempera::cli
