#pragma once

#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/own_stream.cuh"

// The stream and the memory of CudaIntegerKernels. For device sources.

namespace tempera::gpu {

struct CudaIntegerKernels::Device {
  ProductDevice limits;
  simt::Stream stream;
  // Kept between launches: a product's inputs as whole numbers, and their steps; the splits of
  // attention.
  DeviceMemory<std::uint32_t> words;
  DeviceMemory<float> steps;
  DeviceMemory<float> splits;
};

}  // namespace tempera::gpu
