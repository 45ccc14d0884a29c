#include <algorithm>

#include "gpu/llm/transformer/kernels/cuda/tensor_core_check.hpp"
#include "tests/devices/tensor_core_steps.hpp"

namespace tempera::gpu {

void take_tensor_core_steps(std::uint32_t tiles, std::uint32_t* results) {
  simt::Stream stream;
  std::ranges::copy(take_tensor_core_steps(stream, tiles), results);
}

}  // namespace tempera::gpu
