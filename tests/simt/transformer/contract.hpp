#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "gpu/core/model/arithmetic.hpp"

// The contracts `tensor-core` and `tensor-core-ampere` of docs/reference/arithmetic.md, and what
// docs/explanation/pages_of_8_bits.md changes in them, written out one element at a time and
// without regard to speed: what the kernels are held against. It shares hopper_step, ampere_step,
// the exponential and the rounding with them, and nothing else.

namespace tempera::tests {

using Bfloat16s = std::vector<std::uint16_t>;
using Floats = std::vector<float>;

/// hopper_step or ampere_step.
using ContractStep = float (*)(const std::uint16_t*, const std::uint16_t*, float);
/// The step of `tensor-core` or of `tensor-core-ampere`.
ContractStep contract_step(gpu::Arithmetic arithmetic);

/// Normal variates, rounded to bfloat16.
Bfloat16s random_bfloat16s(std::size_t size, float scale, std::mt19937& random);
Floats random_floats(std::size_t size, float scale, std::mt19937& random);

/// A matrix [out, in] of bfloat16s, row-major, packed into fragments with zeros where it ends.
std::vector<std::uint32_t> packed_fragments(const Bfloat16s& matrix, std::size_t out,
                                            std::size_t in);

/// Σ_i weights_i · inputs_i in segments of 512 (or of another length, to show that it matters).
float contract_product(std::span<const std::uint16_t> weights,
                       std::span<const std::uint16_t> inputs, std::size_t segment = 512,
                       ContractStep step = contract_step(gpu::Arithmetic::tensor_core));

/// Σ_i p_i, halves first.
float contract_tree(Floats p);

/// weight_i · (x_i · factor), factor = 1 / sqrt(sum / size + ε), with `sums` partial sums.
Floats contract_norm(std::span<const float> x, std::span<const float> weight, float epsilon,
                     std::size_t sums);

/// The rotated head, from the normed one.
Floats contract_rotation(const Floats& head, std::span<const float> cosines,
                         std::span<const float> sines);

/// A head of a key or of a value: element d is elements[d] · power.
struct ContractHead {
  Floats elements;
  float power = 1;  // 2^e of elements of 8 bits, 1 of bfloat16s
};

/// Elements of 8 bits for a head: e is the least whole number >= -126 with rint(M / 2^e) <= 127,
/// found by trying one after the other.
ContractHead contract_8_bits(std::span<const float> head);

/// The attention of one query head over the positions in order, before rounding to bfloat16.
/// keys, values: [positions].
Floats contract_attention(std::span<const float> query, const std::vector<ContractHead>& keys,
                          const std::vector<ContractHead>& values);

/// How many elements differ in their bits.
std::size_t different(std::span<const float> a, std::span<const float> b);
std::size_t different(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b);

}  // namespace tempera::tests
