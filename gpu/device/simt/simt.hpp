#pragma once

#include "gpu/device/arithmetic.hpp"

// Kernels are written once, against the names of tempera::gpu::simt, and compiled twice: by nvcc
// for a device, where each name is the instruction that it stands for (device_threads.cuh), and by
// any compiler for the host, where the threads of a block are fibers (fiber_threads.hpp).
//
//   template <int Tiles>
//   TEMPERA_KERNEL(256) product(const float* inputs, float* outputs) {
//     float* sums = simt::shared_memory<float>();
//     ...
//   }
//   simt::launch({.blocks = {132}, .threads = 256, .shared_bytes = 4096}, stream, product<4>, in,
//   out);
//
// thread, lane, warp, threads, block, blocks   where a thread is; a warp has 32 lanes
// shared_memory<T>(offset)                     the block's shared memory, from a byte offset on
// barrier, warp_barrier                        all threads of the block, of the warp, must reach it
// shuffle, shuffle_xor, ballot, any, all       warp collectives, by all 32 lanes
// atomic_add, atomic_max, fence                on global or shared memory; integers only
// atomic_add_releasing, _exchanging            the same, on global memory; the second acquires, too
// load_shared_by_blocks                        of what other blocks of the launch have written
// load_written, load_counter                   the same of any type; of a counter, in a loop
// load_counter_acquiring                       and then all that was written before it was counted
// copy_async, commit_copies, wait_copies<N>    asynchronous 16-byte copies global -> shared
// prefetch                                     into the second-level cache
// tensor_core_step                             mma.sync m16n8k16, bfloat16 into float32
// round_to_bfloat16s                           two numbers, into the halves of a word
// select_bytes                                 prmt: four of the bytes of two words
// load_matrices                                ldmatrix.x4: four 8 x 8 matrices of 16-bit elements
// launch(shape, stream, kernel, arguments...)  queues the kernel after those before it
// StepGraph, StagedBytes                       gpu/device/simt/step_graph.cuh
// steps of four warps together (wgmma)         gpu/device/simt/warpgroup_steps.hpp
//
// What the fibers cannot show: races between blocks that are within one turn of a block, missing
// fences, bank conflicts, speed, and that the silicon follows gpu/device/tensor_core.hpp.

// The two forms of one kernel may be in one program, so each has a namespace of its own.
#if defined(__CUDACC__)
#define TEMPERA_SIMT_FORM on_device
#define TEMPERA_KERNEL(...) __global__ void __launch_bounds__(__VA_ARGS__)
#define TEMPERA_GRID_CONSTANT __grid_constant__
#define TEMPERA_ON_DEVICE __device__
#define TEMPERA_UNROLL _Pragma("unroll")
#define TEMPERA_UNROLL_BY(n) TEMPERA_PRAGMA(unroll n)
#define TEMPERA_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define TEMPERA_NO_UNROLL _Pragma("unroll 1")
#include "gpu/device/simt/device_threads.cuh"
#else
#define TEMPERA_SIMT_FORM on_fibers
#define TEMPERA_KERNEL(...) inline void
#define TEMPERA_GRID_CONSTANT
#define TEMPERA_ON_DEVICE
#define TEMPERA_UNROLL
#define TEMPERA_UNROLL_BY(n)
#define TEMPERA_NO_UNROLL
#include "gpu/device/simt/fiber_threads.hpp"
#endif
