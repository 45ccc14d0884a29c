#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "gpu/llm/transformer/weights/quantised_block.hpp"

namespace tempera::gpu {

/// How a dtype of a file is packed in blocks; nothing for a dtype that stored_block does not know.
std::optional<Packing> packing_of_dtype(std::string_view dtype);

/// Packs up to `lanes` outputs of `in` inputs each, stored one after another in a dtype, as a block
/// (quantised_block.hpp); the outputs that are missing get weight 0. `block` has the bytes of in /
/// layout.inputs stored blocks, all 0.
/// @return the first element, counted from the first output on, that is NaN or infinite, or whose
/// scale is; nothing if there is none
std::optional<std::size_t> pack_block(Packing packing, std::span<const std::byte> outputs,
                                      std::size_t in, std::span<std::byte> block);

}  // namespace tempera::gpu
