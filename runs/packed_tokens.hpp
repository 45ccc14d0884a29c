#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// Numbers as the text of a line: each in groups of seven bits, the lowest first, the last below
/// 128 (LEB128), and these bytes in base64url without padding (RFC 4648). A token of a vocabulary
/// of 2^14 takes 2.7 bytes.
std::string packed_tokens(std::span<const TokenId> tokens);
/// @throw BadInput naming `where` for a text that packed_tokens does not write
std::vector<TokenId> unpacked_tokens(std::string_view text, const std::string& where);

}  // namespace tempera::gpu
