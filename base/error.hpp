#pragma once

#include <stdexcept>
#include <string>

namespace tempera {

/// Input that a user can mend: one line that names the file (or flag), the place in it and the
/// remedy. The command prints it on stderr and exits with code 2.
class BadInput : public std::runtime_error {
 public:
  /// "where: what; remedy", each part through one_line: whatever text of the user's is in them, the
  /// message is one short line without control characters.
  BadInput(const std::string& where, const std::string& what, const std::string& remedy);
};

/// The remedy for a file that came damaged.
inline const std::string download_again = "download the file again";

}  // namespace tempera
