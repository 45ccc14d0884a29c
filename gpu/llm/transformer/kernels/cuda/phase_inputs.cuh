#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"

// How a kernel comes by what was computed before it: of a launch before, or of a phase before in
// the same launch.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// What launches before have written, which is there when a launch begins. Plain loads see it.
struct InputsOfLaunch {
  TEMPERA_ON_DEVICE static void wait() {}
  template <class T>
  TEMPERA_ON_DEVICE static T load(const T* source) {
    return *source;
  }
};

/// Where the blocks of a launch that all run at the same time wait for each other, between its
/// phases. A phase that has ended is left, what the next one needs besides may be asked for, and
/// then the phase is entered: all blocks have left the one before it.
///
/// What other blocks have written in earlier phases is read past the first-level cache (load).
class InputsOfPhase {
 public:
  /// counter: 0 between launches; of no other launch that runs at the same time
  TEMPERA_ON_DEVICE explicit InputsOfPhase(std::uint32_t* counter) : counter_(counter) {}

  /// Ends a phase of this block: what it has written will be seen by blocks that have waited.
  TEMPERA_ON_DEVICE void leave() {
    simt::barrier();
    left_ += simt::blocks().x;
    if (simt::thread() != 0) return;
    simt::fence();
    simt::atomic_add(counter_, 1U);
  }
  /// Waits until every block has left as many phases as this one. By the whole block.
  TEMPERA_ON_DEVICE void wait() const {
    if (simt::thread() == 0) {
      while (simt::load_counter(counter_) < left_) {
      }
      simt::fence();
    }
    simt::barrier();
  }
  /// Leaves the last phase, after which nobody waits. The block that does so last makes the counter
  /// 0 for the next launch.
  TEMPERA_ON_DEVICE void end() {
    left_ += simt::blocks().x;
    if (simt::thread() != 0) return;
    if (simt::atomic_add(counter_, 1U) + 1 == left_) *counter_ = 0;
  }
  template <class T>
  TEMPERA_ON_DEVICE static T load(const T* source) {
    return simt::load_written(source);
  }

 private:
  std::uint32_t* counter_;
  unsigned left_ = 0;  // arrivals when all blocks have left
};

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
