#pragma once

#include <bit>
#include <cstddef>

// Forms that ./gpu-check --second-call takes by turns on one card, until a device has said which
// is faster. Bits stay.

namespace tempera::gpu {

/// How many slots a step has for its rows; slots without a row compute on scratch memory. Each
/// number of slots is a graph of its own. Bits do not depend on it.
enum class StepSlots {
  powers_of_two,
  eights,  ///< multiples of 8 up to 64, then of 32: fewer slots and more graphs
};

inline constexpr StepSlots usual_slots = StepSlots::powers_of_two;

constexpr std::size_t slots_for(std::size_t rows, StepSlots slots) {
  if (slots == StepSlots::powers_of_two || rows <= 8) return std::bit_ceil(rows);
  const std::size_t apart = rows <= 64 ? 8 : 32;
  return (rows + apart - 1) / apart * apart;
}

/// The kernel of joined layers (dense_layers.cuh).
enum class JoinedTrial {
  none,         ///< the kernel that ships
  control,      ///< the kernel that can take each of the next ones, and takes none of them
  keys_first,   ///< a block asks for its first keys before it asks for weights of the next product
  idle_blocks,  ///< what is asked for while a layer attends, by blocks without attention's tasks
  less_ahead,   ///< at most 24 MB of weights are asked for before they are used
  acquires,     ///< one atomic that releases and acquires in place of fences around one
};

/// All of them; the names that results give them.
inline constexpr JoinedTrial joined_trials[] = {JoinedTrial::none,       JoinedTrial::control,
                                                JoinedTrial::keys_first, JoinedTrial::idle_blocks,
                                                JoinedTrial::less_ahead, JoinedTrial::acquires};

constexpr const char* name_of(JoinedTrial trial) {
  constexpr const char* names[] = {"joined",      "control",    "keys first",
                                   "idle blocks", "less ahead", "acquires"};
  return names[static_cast<std::size_t>(trial)];
}

struct TriedForms {
  StepSlots slots = usual_slots;
  JoinedTrial joined = JoinedTrial::none;
};

inline constexpr TriedForms shipped_forms;

}  // namespace tempera::gpu
