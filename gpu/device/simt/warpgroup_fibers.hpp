#pragma once

#include <cstddef>

#include "gpu/device/simt/fiber_threads.hpp"

// The host's meaning of the names that warpgroup_steps.hpp lists.

namespace tempera::gpu::simt::inline on_fibers {

void show_copies_to_steps();
void begin_steps();
void commit_warpgroup_steps();
/// Waits until at most `groups` committed groups of this thread's steps are in flight.
void wait_for_steps(std::size_t groups);

/// A step by one warp of the four, of hopper_step; a warp collective. sums: [tokens / 2].
/// Operands that are no finite numbers fail.
void take_step(float* sums, unsigned tokens, const Vector16& weights, const void* inputs,
               unsigned next_tokens, Where where);

/// The same as PTX has it, for code in which a sum's way from one step to the next is a copy of a
/// register: the thread has its sums at once. inputs: what a descriptor says, not swizzled, their
/// address in shared memory from bit 0 on, the way to the next 8 inputs from bit 16, and that to
/// the next 8 tokens from bit 32, in units of 16 bytes.
void take_described_step(float* sums, unsigned tokens, const Vector16& weights,
                         std::uint64_t inputs, bool adds, Where where);

template <unsigned Count>
void begin_warpgroup_steps(float (&)[Count]) {
  begin_steps();
}
template <unsigned Count>
void warpgroup_step(float (&sums)[Count], const Vector16& weights, const void* inputs,
                    unsigned next_tokens, Where where = {__builtin_LINE()}) {
  take_step(sums, 2 * Count, weights, inputs, next_tokens, where);
}
template <int Groups, unsigned Count>
void wait_warpgroup_steps(float (&)[Count]) {
  wait_for_steps(Groups);
}

}  // namespace tempera::gpu::simt::inline on_fibers
