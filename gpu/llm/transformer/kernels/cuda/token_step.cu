#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/integer_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/token_step.cuh"

namespace tempera::gpu {

std::unique_ptr<TokenStep> CudaKernels::make_token_step() const {
  return std::make_unique<CudaTokenStep>(device_->stream, device_->limits.multiprocessors,
                                         device_->tried);
}

std::unique_ptr<TokenStep> CudaIntegerKernels::make_token_step() const {
  return std::make_unique<CudaTokenStep>(device_->stream, device_->limits.multiprocessors);
}

}  // namespace tempera::gpu
