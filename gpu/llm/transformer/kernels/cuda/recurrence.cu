#include "base/error.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/recurrence.cuh"

namespace tempera::gpu {

void CudaKernels::require_recurrence(const RecurrentShape& shape, const std::string& where) const {
  const std::size_t needed = HeadLayout::of(shape, tokens_at_a_time).bytes();
  if (needed > device_->limits.shared_bytes)
    throw BadInput(where,
                   "\"linear_key_head_dim\" is " + std::to_string(shape.key_dim) +
                       " and \"linear_value_head_dim\" " + std::to_string(shape.value_dim) +
                       ", whose memory needs " + std::to_string(needed) +
                       " bytes of shared memory a block, and the device gives " +
                       std::to_string(device_->limits.shared_bytes),
                   "use --arithmetic float32 or a larger GPU");
}

void CudaKernels::recur(const RecurrentShape& shape, const RecurrentWeights& weights,
                        const TokenRows& batch, const RecurrentStates& states, float* projected,
                        const ProductInputs& answers) const {
  device_->scratch.ensure_size(batch.rows * channels_of(shape));
  launch_recurrence(device_->stream, shape, weights, batch, states, projected,
                    device_->scratch.data(), answers.bfloat16);
}

}  // namespace tempera::gpu
