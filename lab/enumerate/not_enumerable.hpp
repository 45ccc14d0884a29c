#pragma once

#include "base/error.hpp"

namespace tempera::lab {

/// A program or kernel that is no function of the decisions that it draws: after the same decisions
/// it draws otherwise, draws nothing with a word that it asked for, or its outcomes do not have the
/// probabilities of a law.
class NotEnumerable : public Error {
 public:
  using Error::Error;
};

}  // namespace tempera::lab
