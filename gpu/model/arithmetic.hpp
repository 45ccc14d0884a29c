#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// What p0 is, bit for bit: the sequence of operations that gives every element of a row of logits
/// (docs/arithmetic.md). A run has one, and its config.json names it; batches, threads, instruction
/// sets and devices choose none of its bits.
enum class Arithmetic {
  float32,      ///< dot products in float32, pages in float32
  tensor_core,  ///< products as Hopper's tensor cores compute them, from bfloat16; bfloat16 pages
  bfloat16_pairs,      ///< pairs of products as VDPBF16PS sums them, from bfloat16; bfloat16 pages
  tensor_core_ampere,  ///< as tensor_core, in the steps of Ampere's and Ada's tensor cores
};

inline constexpr std::array arithmetics{Arithmetic::float32, Arithmetic::tensor_core,
                                        Arithmetic::tensor_core_ampere, Arithmetic::bfloat16_pairs};

/// "float32", "tensor-core", "tensor-core-ampere" or "bfloat16-pairs".
constexpr std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::tensor_core:
      return "tensor-core";
    case Arithmetic::tensor_core_ampere:
      return "tensor-core-ampere";
    case Arithmetic::bfloat16_pairs:
      return "bfloat16-pairs";
    default:
      return "float32";
  }
}

/// Whether inputs of products, keys and values are bfloat16s.
constexpr bool rounds_to_bfloat16(Arithmetic arithmetic) {
  return arithmetic != Arithmetic::float32;
}

/// Whether products are chains of a tensor core's steps, of whichever chip.
constexpr bool takes_tensor_core_steps(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::tensor_core || arithmetic == Arithmetic::tensor_core_ampere;
}

/// The arithmetic of this name, if there is one.
std::optional<Arithmetic> arithmetic_named(std::string_view name);

/// What a user may choose: "float32, tensor-core, tensor-core-ampere or bfloat16-pairs".
std::string names_of_arithmetics();

}  // namespace tempera::gpu
