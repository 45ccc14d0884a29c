#pragma once

#include <stdexcept>
#include <string>

namespace tempera::gpu {

/// Input that a user can mend: one line that names the file (or flag), the place in it and the
/// remedy. The command prints it on stderr and exits with code 2.
class BadInput : public std::runtime_error {
 public:
  BadInput(const std::string& where, const std::string& what, const std::string& remedy)
      : std::runtime_error(where + ": " + what + "; " + remedy) {}
};

}  // namespace tempera::gpu
