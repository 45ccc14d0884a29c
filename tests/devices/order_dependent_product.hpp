#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tempera::gpu {

/// y = W x by order_dependent_product.cuh. weights: fragments as MatrixView says, whole tiles and
/// steps; inputs: [rows, in] as bits of bfloat16; parts: into which the inputs are cut. Returns
/// [rows, out].
std::vector<float> order_dependent_product(std::span<const std::uint32_t> weights,
                                           std::span<const std::uint16_t> inputs, std::size_t rows,
                                           std::size_t out, std::size_t in, unsigned parts);

}  // namespace tempera::gpu
