#pragma once

#include "base/error.hpp"

namespace tempera::gpu {

/// A model no longer gives the bits that a run was saved with.
class ModelChanged final : public BadInput {
 public:
  using BadInput::BadInput;
};

}  // namespace tempera::gpu
