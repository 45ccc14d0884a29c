#include "gpu/llm/transformer/random_transformer.hpp"

namespace tempera::gpu {

std::unique_ptr<Transformer> random_qwen3(const DecoderConfig& config, std::uint64_t seed,
                                          const Kernels& kernels) {
  RandomTensors tensors(seed);
  return std::make_unique<Transformer>(std::make_unique<Qwen3>(config, tensors, kernels));
}

std::unique_ptr<Transformer> random_qwen3(const DecoderConfig& config, std::uint64_t seed,
                                          const std::shared_ptr<const Kernels>& kernels) {
  RandomTensors tensors(seed);
  return std::make_unique<Transformer>(std::make_unique<Qwen3>(config, tensors, *kernels), kernels);
}

}  // namespace tempera::gpu
