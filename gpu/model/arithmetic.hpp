#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace tempera::gpu {

/// What p0 is, bit for bit: the sequence of operations behind every element of a row of logits
/// (docs/arithmetic.md). A run has one, and its config.json names it; batches, threads, instruction
/// sets and devices choose none of its bits.
enum class Arithmetic {
  float32,      ///< dot products in float32, pages in float32
  tensor_core,  ///< products as Hopper's tensor cores compute them, from bfloat16; bfloat16 pages
};

inline constexpr std::array arithmetics{Arithmetic::float32, Arithmetic::tensor_core};

/// "float32" or "tensor-core".
constexpr std::string_view name_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::float32 ? "float32" : "tensor-core";
}

/// The arithmetic of this name, if there is one.
std::optional<Arithmetic> arithmetic_named(std::string_view name);

}  // namespace tempera::gpu
