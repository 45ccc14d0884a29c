#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"

// How a kernel comes by what was computed before it: of a launch before, or of a phase before in
// the same launch.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// How what some blocks have written is seen by others that hear of it through a counter: fences
/// around an atomic.
struct Fences {
  TEMPERA_ON_DEVICE explicit Fences(bool /*acquires*/ = false) {}
  /// By every thread that has written, before a barrier.
  TEMPERA_ON_DEVICE static void show() { simt::fence(); }
  /// By one thread after that barrier: counts its block, and says how many were counted before.
  TEMPERA_ON_DEVICE static std::uint32_t count(std::uint32_t* counter) {
    return simt::atomic_add(counter, 1U);
  }
  /// By every thread that is about to read, after a barrier.
  TEMPERA_ON_DEVICE static void see() { simt::fence(); }
  /// By one thread that speaks for its block, between two barriers: counts it without show(), and
  /// waits for a count without see().
  TEMPERA_ON_DEVICE static void count_shown(std::uint32_t* counter) {
    simt::fence();
    simt::atomic_add(counter, 1U);
  }
  TEMPERA_ON_DEVICE static void wait_for(const std::uint32_t* counter, std::uint32_t count) {
    while (simt::load_counter(counter) < count) {
    }
    simt::fence();
  }
};

/// Fences, or one atomic of a thread that releases what its block has written before a barrier and
/// acquires what others have: barriers carry both to the rest of the block.
struct TriedMeeting {
  bool acquires;
  TEMPERA_ON_DEVICE void show() const {
    if (!acquires) Fences::show();
  }
  TEMPERA_ON_DEVICE std::uint32_t count(std::uint32_t* counter) const {
    return acquires ? simt::atomic_add_exchanging(counter, 1U) : Fences::count(counter);
  }
  TEMPERA_ON_DEVICE void see() const {
    if (!acquires) Fences::see();
  }
  TEMPERA_ON_DEVICE void count_shown(std::uint32_t* counter) const {
    if (acquires)
      simt::atomic_add_releasing(counter, 1U);
    else
      Fences::count_shown(counter);
  }
  TEMPERA_ON_DEVICE void wait_for(const std::uint32_t* counter, std::uint32_t count) const {
    if (!acquires) return Fences::wait_for(counter, count);
    while (simt::load_counter_acquiring(counter) < count) {
    }
  }
};

/// What launches before have written, which is there when a launch begins. Plain loads see it.
struct InputsOfLaunch : Fences {
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
template <class Meeting>
class InputsOfPhase : public Meeting {
 public:
  /// counter: 0 between launches; of no other launch that runs at the same time
  TEMPERA_ON_DEVICE InputsOfPhase(std::uint32_t* counter, const Meeting& meeting)
      : Meeting(meeting), counter_(counter) {}

  /// Ends a phase of this block: what it has written will be seen by blocks that have waited.
  TEMPERA_ON_DEVICE void leave() {
    simt::barrier();
    left_ += simt::blocks().x;
    if (simt::thread() == 0) this->count_shown(counter_);
  }
  /// Waits until every block has left as many phases as this one. By the whole block.
  TEMPERA_ON_DEVICE void wait() const {
    if (simt::thread() == 0) this->wait_for(counter_, left_);
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
