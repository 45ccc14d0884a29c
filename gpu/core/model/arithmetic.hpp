#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// What p0 is, bit for bit: the sequence of operations that gives every element of a row of logits
/// (docs/reference/arithmetic.md). A run has one, and its config.json names it; batches, threads,
/// instruction sets and devices choose none of its bits.
enum class Arithmetic {
  float32,      ///< dot products in float32, pages in float32
  tensor_core,  ///< products as Hopper's tensor cores compute them, from bfloat16; bfloat16 pages
  bfloat16_pairs,      ///< pairs of products as VDPBF16PS sums them, from bfloat16; bfloat16 pages
  tensor_core_ampere,  ///< as tensor_core, in the steps of Ampere's and Ada's tensor cores
  tensor_core_8_bit_pages,         ///< as tensor_core, with keys and values of 8 bits in pages
  tensor_core_ampere_8_bit_pages,  ///< as tensor_core_ampere, with the same
  integer,  ///< products of whole numbers, whose exact sums have no order; such pages, too
};

inline constexpr std::array arithmetics{Arithmetic::float32,
                                        Arithmetic::tensor_core,
                                        Arithmetic::tensor_core_ampere,
                                        Arithmetic::tensor_core_8_bit_pages,
                                        Arithmetic::tensor_core_ampere_8_bit_pages,
                                        Arithmetic::bfloat16_pairs,
                                        Arithmetic::integer};

/// How the keys and values of an arithmetic are stored.
enum class PageElements {
  float32,
  bfloat16,
  eight_bits,    ///< whole numbers from -127 to 127, times a power of two for each head of a token
  sixteen_bits,  ///< the same from -32767 to 32767
};

/// "float32", "tensor-core", "tensor-core-ampere", the latter two with "-8-bit-pages",
/// "bfloat16-pairs" or "integer".
constexpr std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::tensor_core:
      return "tensor-core";
    case Arithmetic::tensor_core_ampere:
      return "tensor-core-ampere";
    case Arithmetic::tensor_core_8_bit_pages:
      return "tensor-core-8-bit-pages";
    case Arithmetic::tensor_core_ampere_8_bit_pages:
      return "tensor-core-ampere-8-bit-pages";
    case Arithmetic::bfloat16_pairs:
      return "bfloat16-pairs";
    case Arithmetic::integer:
      return "integer";
    default:
      return "float32";
  }
}

/// What the pages of an arithmetic hold of keys and values.
constexpr PageElements page_elements(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::float32:
      return PageElements::float32;
    case Arithmetic::tensor_core_8_bit_pages:
    case Arithmetic::tensor_core_ampere_8_bit_pages:
      return PageElements::eight_bits;
    case Arithmetic::integer:
      return PageElements::sixteen_bits;
    default:
      return PageElements::bfloat16;
  }
}

/// Whether inputs of products are bfloat16s.
constexpr bool rounds_to_bfloat16(Arithmetic arithmetic) {
  return arithmetic != Arithmetic::float32 && arithmetic != Arithmetic::integer;
}

/// Whether products are chains of the steps of Hopper's tensor cores.
constexpr bool takes_hopper_steps(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::tensor_core || arithmetic == Arithmetic::tensor_core_8_bit_pages;
}

/// Whether products are chains of the steps of Ampere's and Ada's tensor cores.
constexpr bool takes_ampere_steps(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::tensor_core_ampere ||
         arithmetic == Arithmetic::tensor_core_ampere_8_bit_pages;
}

/// Whether products are chains of a tensor core's steps, of whichever chip.
constexpr bool takes_tensor_core_steps(Arithmetic arithmetic) {
  return takes_hopper_steps(arithmetic) || takes_ampere_steps(arithmetic);
}

/// The arithmetic whose packed weights this one takes: those of tensor cores have the same.
constexpr Arithmetic packs_as(Arithmetic arithmetic) {
  return takes_tensor_core_steps(arithmetic) ? Arithmetic::tensor_core : arithmetic;
}

/// The arithmetic of this name, if there is one.
std::optional<Arithmetic> arithmetic_named(std::string_view name);

/// The arithmetics that a user may choose: "float32, tensor-core, … or integer".
std::string names_of_arithmetics();

}  // namespace tempera::gpu
