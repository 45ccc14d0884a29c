#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "gpu/llm/transformer/weights/quantised_block.hpp"

namespace tempera::gpu {

/// How a dtype of a file is packed in blocks; nothing for a dtype that stored_block does not know.
/// The packing holds every value exactly. Those of no packing of their own take more memory than in
/// their file: IQ4_NL as q8_0 (8.5 bits a weight for 4.5), Q3_K as q6_k (6.56 for 3.44), IQ4_XS as
/// q8_scaled (8.31 for 4.25) and MXFP4 as bfloat16 (16 for 4.25).
std::optional<Packing> packing_of_dtype(std::string_view dtype);

/// True if pack_block packs a dtype, block by block; MXFP4 is dequantised instead.
bool is_packed_by_blocks(std::string_view dtype);

/// Packs up to `lanes` outputs of `in` inputs each, stored one after another in a dtype that
/// is_packed_by_blocks, as a block (quantised_block.hpp); the outputs that are missing get weight
/// 0. `block` has the bytes of in / layout.inputs stored blocks, all 0.
/// @return the first element, counted from the first output on, that is NaN or infinite, or whose
/// scale is; nothing if there is none
std::optional<std::size_t> pack_block(std::string_view dtype, std::span<const std::byte> outputs,
                                      std::size_t in, std::span<std::byte> block);

}  // namespace tempera::gpu
