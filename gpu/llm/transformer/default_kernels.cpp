#include "gpu/llm/transformer/default_kernels.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "gpu/llm/transformer/kernels/thrust/thrust_kernels.hpp"
#else
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#endif

namespace tempera::gpu {
namespace {

/// Kernels without a state, which live as long as the program.
std::shared_ptr<const Kernels> shared(const Kernels& kernels) {
  return {std::shared_ptr<const void>(), &kernels};
}

}  // namespace

std::shared_ptr<const Kernels> make_default_kernels(Arithmetic arithmetic) {
#if defined(TEMPERA_DEVICE_CUDA)
  if (arithmetic == Arithmetic::float32) return shared(thrust_kernels());
  if (arithmetic == Arithmetic::integer) return std::make_shared<const CudaIntegerKernels>();
  return std::make_shared<const CudaKernels>(1, std::nullopt, StepForm::graph, arithmetic);
#else
  return shared(host_kernels(chosen_instruction_set(), arithmetic));
#endif
}

}  // namespace tempera::gpu
