#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gpu/llm/transformer/random_transformer.hpp"

namespace tempera::lab {

/// A Qwen3 decoder of two layers with grouped heads and random weights: the whole of the production
/// transformer, small enough to be enumerated or run many times. 64 positions.
std::unique_ptr<gpu::Transformer> small_transformer(
    std::size_t vocabulary, std::uint64_t seed,
    gpu::Arithmetic arithmetic = gpu::Arithmetic::float32);

}  // namespace tempera::lab
