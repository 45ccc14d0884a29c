#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/transformer.hpp"

namespace tempera::gpu {

/// The sizes of a model whose speed is measured, without its weights.
struct ModelShape {
  std::string_view name;
  std::string_view whose;  ///< the model that has these sizes
  DecoderConfig config;

  /// Weights that a step reads: all but the embedding, of which it reads a row, unless the head is
  /// tied to it.
  std::uint64_t step_weights() const;
  /// The same without the head: what prefill multiplies each token with.
  std::uint64_t layer_weights() const;
  /// Bytes of keys and values of one token, as the arithmetic stores them.
  std::uint64_t token_bytes(Arithmetic arithmetic = Arithmetic::tensor_core) const;
};

/// Qwen3-8B, Qwen3-4B, 135 million parameters, and one that any machine runs in seconds.
std::span<const ModelShape> model_shapes();
/// The shape of this name, or null.
const ModelShape* find_model_shape(std::string_view name);

/// Makes a transformer's cache hold `tokens` tokens in pages and states of its own, but for those
/// that it holds already. Nothing computes the new ones: what is in a page takes no part in how
/// long it takes to read it. Range: tokens >= cache.length()
/// @throw BadInput if the memory of the device has no room
void fill_cache(Cache& cache, std::size_t tokens);

/// A Qwen3 model with the weights of FilledTensors(seed).
/// @throw std::bad_alloc if the device's memory has no room for them
std::unique_ptr<Transformer> filled_qwen3(const DecoderConfig& config, std::uint64_t seed,
                                          const Kernels& kernels);
/// The same with kernels that live as long as the model.
std::unique_ptr<Transformer> filled_qwen3(const DecoderConfig& config, std::uint64_t seed,
                                          const std::shared_ptr<const Kernels>& kernels);

}  // namespace tempera::gpu
