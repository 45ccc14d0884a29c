#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "gpu/device/simt/launch_shape.hpp"

// The device's meaning of the names that simt.hpp lists: one instruction each.

namespace tempera::gpu::simt::inline on_device {

__device__ inline unsigned thread() { return threadIdx.x; }
__device__ inline unsigned threads() { return blockDim.x; }
__device__ inline unsigned lane() { return threadIdx.x % warp_lanes; }
__device__ inline unsigned warp() { return threadIdx.x / warp_lanes; }
__device__ inline Extent block() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
__device__ inline Extent blocks() { return {gridDim.x, gridDim.y, gridDim.z}; }

template <class T>
__device__ inline T* shared_memory(std::size_t offset = 0) {
  extern __shared__ __align__(16) unsigned char bytes[];
  return reinterpret_cast<T*>(bytes + offset);
}

__device__ inline void barrier() { __syncthreads(); }
__device__ inline void warp_barrier() { __syncwarp(); }

constexpr unsigned all_lanes = 0xFFFFFFFFU;

template <class T>
__device__ inline T shuffle(T value, unsigned source) {
  return __shfl_sync(all_lanes, value, static_cast<int>(source));
}
template <class T>
__device__ inline T shuffle_xor(T value, unsigned mask) {
  return __shfl_xor_sync(all_lanes, value, static_cast<int>(mask));
}
__device__ inline unsigned ballot(bool vote) { return __ballot_sync(all_lanes, vote); }
__device__ inline bool any(bool vote) { return __any_sync(all_lanes, vote) != 0; }
__device__ inline bool all(bool vote) { return __all_sync(all_lanes, vote) != 0; }

__device__ inline std::uint32_t atomic_add(std::uint32_t* target, std::uint32_t value) {
  return atomicAdd(target, value);
}
__device__ inline std::uint64_t atomic_add(std::uint64_t* target, std::uint64_t value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(target), value);
}
__device__ inline std::uint32_t atomic_max(std::uint32_t* target, std::uint32_t value) {
  return atomicMax(target, value);
}
__device__ inline std::uint64_t atomic_max(std::uint64_t* target, std::uint64_t value) {
  return atomicMax(reinterpret_cast<unsigned long long*>(target), value);
}
__device__ inline void fence() { __threadfence(); }
/// Adds after all that the thread's block has written before its last barrier.
__device__ inline std::uint32_t atomic_add_releasing(std::uint32_t* target, std::uint32_t value) {
  std::uint32_t before;
  asm volatile("atom.release.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(target), "r"(value)
               : "memory");
  return before;
}
/// The same, and what those had written who have added so before is seen beyond a barrier.
__device__ inline std::uint32_t atomic_add_exchanging(std::uint32_t* target, std::uint32_t value) {
  std::uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(target), "r"(value)
               : "memory");
  return before;
}

/// Reads what other blocks of this launch have written, past the first-level cache.
__device__ inline float load_shared_by_blocks(const float* source) { return __ldcg(source); }

/// The same of any type, where what was written may also be of a launch before.
template <class T>
__device__ inline T load_written(const T* source) {
  return __ldcg(source);
}
template <>
__device__ inline Vector16 load_written(const Vector16* source) {
  const uint4 vector = __ldcg(reinterpret_cast<const uint4*>(source));
  return {vector.x, vector.y, vector.z, vector.w};
}
/// Reads a counter that other blocks change by atomics, for a thread that waits for them.
__device__ inline std::uint32_t load_counter(const std::uint32_t* counter) {
  std::uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

/// The same, of those that add by atomic_add_releasing.
__device__ inline std::uint32_t load_counter_acquiring(const std::uint32_t* counter) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

/// Copies 16 bytes, or writes 16 zero bytes and reads nothing if `there` is false.
__device__ inline void copy_async(void* shared, const void* global, bool there = true) {
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(global),
               "r"(there ? 16 : 0)
               : "memory");
}
/// Copies as copy_async does, what is read once and in order: it asks the second-level cache for
/// 256 bytes.
__device__ inline void copy_stream_async(void* shared, const void* global) {
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(target), "l"(global)
               : "memory");
}
/// Asks the second-level cache for what will be read; by a whole warp. bytes: a multiple of 16.
__device__ inline void prefetch(const void* global, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  if (lane() != 0) return;
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global), "r"(bytes) : "memory");
#else
  constexpr unsigned line = 128;
  for (unsigned begin = lane() * line; begin < bytes; begin += warp_lanes * line) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(static_cast<const char*>(global) + begin)
                 : "memory");
  }
#endif
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

__device__ inline void tensor_core_step(float (&d)[4], const Vector16& a, std::uint32_t b0,
                                        std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

__device__ inline Vector16 load_matrices(const void* shared_row) {
  const auto source = static_cast<unsigned>(__cvta_generic_to_shared(shared_row));
  Vector16 d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
               : "r"(source)
               : "memory");
  return d;
}

/// to_bfloat16 of both, the first in the lower half; not of NaN.
__device__ inline std::uint32_t round_to_bfloat16s(float first, float second) {
  std::uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
}

/// Byte i of the result is byte (selector >> 4 i) % 8 of the eight of both, first's before
/// second's.
__device__ inline std::uint32_t select_bytes(std::uint32_t first, std::uint32_t second,
                                             std::uint32_t selector) {
  return __byte_perm(first, second, selector);
}

/// An order of launches: each begins what depends on memory when those before it have ended.
struct Stream {
  cudaStream_t stream = nullptr;
  /// Whether what can go together goes as one kernel whose blocks wait for each other.
  bool joined = false;
  /// Whether a step's first replays decide that (StepForm::timed).
  bool times_forms = false;
  std::uint64_t launches = 0;  ///< how many kernels have been queued
  Queueing queueing = Queueing::run;
  std::uint64_t waits = 0;  ///< how often the host has waited
  /// Whether a step is queued as one graph; else its kernels one by one. It changes no bit.
  bool graphs = true;
  std::uint64_t replays = 0;  ///< how many graphs have been queued
  /// What is recorded, kernel by kernel, and its last; null if the stream itself is captured.
  cudaGraph_t recorded = nullptr;
  cudaGraphNode_t last_recorded = nullptr;
  /// Is called, if it is there, before and after each kernel and each graph that is queued: for
  /// tests that time them.
  std::function<void()> watch = {};
  /// The kernel that is watched; null of a graph.
  const void* watched = nullptr;
};

inline void require_success(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw DeviceError(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

/// Adds a kernel to what the stream records, after the last.
template <class... Parameters>
void record_launch(const LaunchShape& shape, Stream& stream, void (*kernel)(Parameters...),
                   Parameters... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)...};
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(kernel);
  node.gridDim = dim3(shape.blocks.x, shape.blocks.y, shape.blocks.z);
  node.blockDim = dim3(shape.threads);
  node.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
  node.kernelParams = pointers;
  cudaGraphNode_t next = nullptr;
  const std::size_t before = stream.last_recorded == nullptr ? 0 : 1;
  require_success(
      cudaGraphAddKernelNode(&next, stream.recorded, &stream.last_recorded, before, &node),
      "graph of a step");
  stream.last_recorded = next;
  if (!shape.together) return;
  cudaLaunchAttributeValue cooperative{};
  cooperative.cooperative = 1;
  require_success(
      cudaGraphKernelNodeSetAttribute(next, cudaLaunchAttributeCooperative, &cooperative),
      "graph of a step");
}

/// What a kernel of this much shared memory must be given first.
template <class... Parameters>
void grant_shared_memory(void (*kernel)(Parameters...), std::size_t shared_bytes) {
  constexpr std::size_t granted_unasked = 48 * 1024;
  if (shared_bytes <= granted_unasked) return;
  require_success(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shared_bytes)),
                  "shared memory");
}

/// Blocks of a kernel that a multiprocessor can run at the same time.
template <class... Parameters>
unsigned blocks_at_once(void (*kernel)(Parameters...), unsigned threads, std::size_t shared_bytes) {
  grant_shared_memory(kernel, shared_bytes);
  int blocks = 0;
  require_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                      &blocks, kernel, static_cast<int>(threads), shared_bytes),
                  "blocks of a multiprocessor");
  return static_cast<unsigned>(blocks);
}

/// @throw DeviceError if the device refuses the launch
template <class... Parameters, class... Arguments>
void launch(const LaunchShape& shape, Stream& stream, void (*kernel)(Parameters...),
            Arguments... arguments) {
  grant_shared_memory(kernel, shape.shared_bytes);
  if (stream.queueing == Queueing::rehearse) return;
  if (stream.recorded != nullptr) {
    record_launch<Parameters...>(shape, stream, kernel, static_cast<Parameters>(arguments)...);
    ++stream.launches;
    return;
  }
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks.x, shape.blocks.y, shape.blocks.z);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream.stream;
  config.attrs = &cooperative;
  config.numAttrs = shape.together ? 1 : 0;
  ++stream.launches;
  // Not while it records: an event would become a node of the graph.
  const bool watched = stream.watch && stream.queueing == Queueing::run;
  stream.watched = reinterpret_cast<const void*>(kernel);
  if (watched) stream.watch();
  require_success(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
                  "launch of a kernel");
  if (watched) stream.watch();
}

}  // namespace tempera::gpu::simt::inline on_device
