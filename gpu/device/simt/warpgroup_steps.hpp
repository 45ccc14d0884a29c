#pragma once

#include "gpu/device/simt/simt.hpp"

// Steps of Hopper's tensor cores that four warps take together (wgmma), beside the names of
// simt.hpp. A step multiplies 64 outputs by 64, 128 or 256 tokens, 16 inputs of each. Warp w of the
// four has outputs 16 w … 16 w + 15: their weights as tensor_core_step takes them, and their sums
// as it leaves them, lane 4 g + t outputs g and g + 8 of tokens 2 t and 2 t + 1 of every 8. The
// inputs are in shared memory as core matrices of 8 tokens by 8 inputs, 128 bytes each: those of
// the next 8 inputs follow at once, those of the next 8 tokens `next_tokens` bytes later.
//
// show_copies_to_steps                what the thread has copied or written to shared memory may be
//                                     read by steps, after a barrier
// begin_warpgroup_steps(sums)         before the first step after registers of it were written
// warpgroup_step(sums, weights, inputs, next_tokens)
//                                     sums += weights · inputs, some time before the wait for it:
//                                     until then neither may be touched
// commit_warpgroup_steps              closes a group of steps
// wait_warpgroup_steps<N>(sums)       until at most N groups are on their way
//
// Fibers take a step when it is waited for, and fail if the inputs have changed since it was asked
// for, or were copied and not shown; its sums are poison until then.

namespace tempera::gpu::simt {

/// 8 rows of 8 bfloat16s.
constexpr unsigned core_matrix_bytes = 128;

}  // namespace tempera::gpu::simt

#if defined(__CUDACC__)
#include "gpu/device/simt/warpgroup_steps.cuh"
#else
#include "gpu/device/simt/warpgroup_fibers.hpp"
#endif
