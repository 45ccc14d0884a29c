#pragma once

#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"

// The stream of kernels, and the device that it is on. For device sources.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

#if defined(__CUDACC__)
inline ProductDevice this_device() {
  int device = 0;
  simt::require_success(cudaGetDevice(&device), "no CUDA device");
  int multiprocessors = 0;
  int shared_bytes = 0;
  simt::require_success(
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
      "CUDA device");
  simt::require_success(
      cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
      "CUDA device");
  return {as_unsigned(static_cast<std::size_t>(multiprocessors)),
          static_cast<std::size_t>(shared_bytes)};
}
/// One of its own, since a graph cannot be captured on the default one. It and the default stream,
/// on which Thrust copies, wait for each other.
inline simt::Stream new_stream(std::uint64_t /*seed*/) {
  simt::Stream stream;
  simt::require_success(cudaStreamCreate(&stream.stream), "a CUDA stream");
  return stream;
}
inline void end_stream(simt::Stream& stream) {
  if (stream.stream != nullptr) cudaStreamDestroy(stream.stream);
}
#else
/// A small Hopper: fewer blocks than it has would only leave more of the fibers idle.
inline ProductDevice this_device() { return {3, 227 * 1024}; }
inline simt::Stream new_stream(std::uint64_t seed) { return {.seed = seed}; }
inline void end_stream(simt::Stream& /*stream*/) {}
#endif

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM

namespace tempera::gpu {

/// Kernels::copy_pages, on a stream.
void queue_page_copies(simt::Stream& stream, const std::uint32_t* sources,
                       const std::uint32_t* targets, std::size_t copies, const PageMemory& memory);

}  // namespace tempera::gpu
