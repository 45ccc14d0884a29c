#pragma once

#include <cstdint>
#include <memory>

#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/transformer.hpp"

namespace tempera::gpu {

/// A Qwen3 model with the weights of RandomTensors(seed), the same bits everywhere.
std::unique_ptr<Transformer> random_qwen3(const DecoderConfig& config, std::uint64_t seed,
                                          const Kernels& kernels);
/// The same with kernels that live as long as the model.
std::unique_ptr<Transformer> random_qwen3(
    const DecoderConfig& config, std::uint64_t seed,
    const std::shared_ptr<const Kernels>& kernels = make_default_kernels());

}  // namespace tempera::gpu
