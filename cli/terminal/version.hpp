#pragma once

#include <string>

namespace tempera::cli {

/// "0.2.0".
std::string version_number();

/// What tells a program whose answers may have other bits: version and commit, "0.2.0 (61c5fa3)".
std::string version_of_bits();

/// Version, commit, device system and instruction set of this binary, a line each.
std::string version_text();

/// The software of others that tempera holds or loads, with its copyright notices and licences.
std::string licences_text();

}  // namespace tempera::cli
