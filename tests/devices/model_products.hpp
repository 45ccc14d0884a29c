#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/llm/transformer/model_shapes.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

/// A matrix that a step of a model multiplies with, and what becomes of the results.
struct ModelProduct {
  enum class Form { store, add, gate };

  const char* name;
  std::size_t in;
  std::size_t out;  ///< of a gated one, gate's alone
  Form form;
  bool is_head = false;

  bool is_gated() const { return form == Form::gate; }
  std::uint64_t weights() const { return std::uint64_t{in} * out * (is_gated() ? 2 : 1); }
};

/// The products of a layer, in order, and then the head.
std::vector<ModelProduct> products_of(const DecoderConfig& config);

/// Matrices of random weights for one product, which take turns so that each comes from memory: as
/// many as are beyond every cache, a gigabyte in all, and at least two.
std::vector<PackedMatrix> copies_of(const ModelProduct& product, Arithmetic arithmetic);

}  // namespace tempera::gpu
