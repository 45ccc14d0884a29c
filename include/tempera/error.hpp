#pragma once

/// @file
/// What tempera throws.

#include <stdexcept>
#include <string>

namespace tempera {

/// What tempera throws for a reason of its own: one line without control characters.
class Error : public std::runtime_error {
 public:
  /// `what`, through one_line.
  explicit Error(const std::string& what);

 protected:
  struct OneLine {};
  /// `what`, which is one line.
  Error(OneLine, const std::string& what) : std::runtime_error(what) {}
};

/// Input that a user can mend: one line that names the file (or flag), the place in it and the
/// remedy. The command prints it on stderr and exits with code 2.
class BadInput : public Error {
 public:
  /// "where: what; remedy", each part through one_line: whatever text of the user's is in them, the
  /// message is one short line without control characters.
  BadInput(const std::string& where, const std::string& what, const std::string& remedy);
};

/// A model whose numbers are none: NaN or +infinity among its logits, or a row that allows no
/// token. Never a rejection: the run ends. The command exits with code 2.
class ModelError : public Error {
 public:
  using Error::Error;
};

/// A device that failed, or that lacks what is asked of it. The command exits with code 2.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A promise that tempera's own code has broken: nothing that a user can mend. The command says so
/// and exits with code 3.
class Bug : public Error {
 public:
  using Error::Error;
};

}  // namespace tempera
