#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device/simt/fiber_switch.hpp"
#include "gpu/device/simt/fiber_threads.hpp"

// What the sources of the fibers share: threads, blocks, and how lanes of a warp meet.

namespace tempera::gpu::simt::inline on_fibers {

enum class Waiting { nothing, block, warp, ended };

/// An asynchronous copy on its way.
struct Copy {
  unsigned char* target;
  const unsigned char* source;  // null: zeros
  std::size_t group;
  Vector16 seen;  // what the source held when the copy was issued
};

/// A step of four warps whose inputs may still be read.
struct PendingStep {
  const unsigned char* inputs;
  unsigned next_tokens;
  unsigned tokens;
  std::uint64_t digest;  // of the inputs when the step was asked for
  std::size_t group;
};

/// Sums of such steps, which the thread has when their group was waited for.
struct PendingSums {
  float* sums;
  std::vector<float> values;
  std::size_t group;
};

struct Thread {
  Fiber* fiber = nullptr;
  const char* collective = nullptr;  // what it waits at
  Waiting waiting = Waiting::nothing;
  unsigned line = 0;
  // What it brings to a collective of its warp, and takes away.
  std::uint64_t value = 0;
  unsigned source = 0;
  bool steps_begun = false;  // begin_warpgroup_steps, and not yet a group of them
  float* d = nullptr;
  Vector16 words{};
  const void* row = nullptr;
  // Its copies in flight are copies[landed …]; group `committed` is still open.
  std::vector<Copy> copies;
  std::size_t landed = 0;
  std::size_t committed = 0;
  // Vectors of shared memory that its copies have written, and that no step may read yet.
  std::vector<std::size_t> unshown;
  // Its steps of four warps in flight; group `step_groups` is still open.
  std::vector<PendingStep> steps;
  std::vector<PendingSums> pending_sums;
  std::size_t step_groups = 0;
};

/// A block that has begun.
struct Block {
  std::vector<Thread> threads;
  std::vector<unsigned> at_collective;  // lanes that have arrived, by warp
  std::vector<Vector16> shared;
  // By vector of the shared memory: whether a copy has written it that steps may not read yet.
  std::vector<bool> unshown;
  // If it is not empty the block is unfair: a warp goes on as far as it can before those after
  // it in this order move, so that it overtakes them by more than one collective.
  std::vector<unsigned> warp_order;
  std::size_t number = 0;
};

/// The launch that this host thread is running.
struct Machine {
  Fiber host;
  Block* block = nullptr;  // whose fiber is running
  bool turn_ended = false;
  std::uint32_t asked_ahead = 0;  // of words at both ends, so that reading them has an effect
  std::mt19937_64 random;
  const std::function<void()>* kernel = nullptr;
  Stream* stream = nullptr;
  std::string failure;

  Thread& running() const { return block->threads[coordinates.thread]; }
};
inline thread_local constinit Machine* machine = nullptr;

/// Which vector of the block's shared memory this is.
inline std::size_t vector_of(const unsigned char* shared) {
  return static_cast<std::size_t>(shared - coordinates.shared) / sizeof(Vector16);
}

/// Gives the host the processor back, for good if a launch has failed.
inline void give_way() {
  Thread& self = machine->running();
  const Coordinates own = coordinates;
  self.fiber->switch_to(machine->host);
  coordinates = own;
}

inline std::string where_it_is() {
  return "block (" + std::to_string(coordinates.block.x) + ", " +
         std::to_string(coordinates.block.y) + ", " + std::to_string(coordinates.block.z) +
         "), thread " + std::to_string(coordinates.thread);
}

/// Ends the launch from within a fiber: an exception could not cross stacks. Nothing that must be
/// destroyed may be left on this one.
[[noreturn]] inline void stop() {
  for (;;) give_way();
}

[[noreturn]] inline void fail(const char* what) {
  machine->failure = what + (" (" + where_it_is() + ")");
  stop();
}

inline bool same_collective(const Thread& a, const Thread& b) {
  return a.line == b.line && std::string_view(a.collective) == b.collective;
}

inline std::string named(const Thread& thread) {
  return std::string(thread.collective) + ", line " + std::to_string(thread.line);
}

/// The last lane of a warp to arrive does the work of all 32, and the warp goes on.
template <class Work>
void meet(const char* collective, const Where& where, const Work& work) {
  Thread& self = machine->running();
  self.collective = collective;
  self.line = where.line();
  self.waiting = Waiting::warp;
  const unsigned first = warp() * warp_lanes;
  if (++machine->block->at_collective[warp()] < warp_lanes) return give_way();
  Thread* const lanes = &machine->block->threads[first];
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (!same_collective(lanes[l], self)) {
      machine->failure =
          "lanes of a warp meet at different places: " + named(self) + " and " + named(lanes[l]);
      stop();
    }
  }
  work(lanes);
  machine->block->at_collective[warp()] = 0;
  for (unsigned l = 0; l < warp_lanes; ++l) lanes[l].waiting = Waiting::nothing;
}

}  // namespace tempera::gpu::simt::inline on_fibers
