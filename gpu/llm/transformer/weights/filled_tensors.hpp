#pragma once

#include <cstdint>

#include "gpu/llm/transformer/weights/tensor_source.hpp"

namespace tempera::gpu {

/// Random weights for shapes whose speed is measured: matrices are made where they are, in the form
/// that they are packed in, so that billions of weights take moments. Bfloat16s of either sign with
/// a variance of one to four times 1 / inputs, and not the numbers of RandomTensors(seed); vectors
/// are as there.
class FilledTensors final : public RandomTensors {
 public:
  explicit FilledTensors(std::uint64_t seed) : RandomTensors(seed), key_(seed) {}

 private:
  /// @throw Bug for inputs that are no multiple of 16, or, under
  /// `bfloat16-pairs`, of 32: padding is no weight
  PackedMatrix pack(const std::vector<Part>& parts, std::size_t in, Arithmetic arithmetic) override;

  std::uint64_t key_;
};

}  // namespace tempera::gpu
