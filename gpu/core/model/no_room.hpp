#pragma once

#include "base/error.hpp"

namespace tempera::gpu {

/// The memory of the device has no room for what a pass needs. The pass has left every cache as it
/// was before, or whole: the same tokens may be asked for again, in smaller passes say.
class NoRoom : public BadInput {
 public:
  using BadInput::BadInput;
};

}  // namespace tempera::gpu
