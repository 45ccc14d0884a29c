#pragma once

#include "base/error.hpp"

namespace tempera::gpu {

/// A saved state that the statistics of this ladder and plan cannot have had. Whoever knows the
/// file that it comes from refuses that by its name.
class ForeignState final : public Error {
 public:
  using Error::Error;
};

}  // namespace tempera::gpu
