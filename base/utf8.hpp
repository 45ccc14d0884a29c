#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempera {

/// How many bytes the well-formed UTF-8 character at the start of `text` has (Unicode 15, table
/// 3-7), or 0 if there is none.
std::size_t utf8_character_length(std::string_view text);

/// The offset of the first byte that is not part of a well-formed character, or text.size().
std::size_t first_invalid_utf8(std::string_view text);

/// How many bytes at the end of a text begin a well-formed character and do not end it; at most 3.
std::size_t unfinished_utf8(std::string_view text);

/// How many bytes of white space (Unicode's White_Space) a well-formed text begins with, and ends
/// with.
std::size_t leading_white_space(std::string_view text);
std::size_t trailing_white_space(std::string_view text);

/// The text with every maximal ill-formed part (Unicode 15, section 3.9, U+FFFD substitution of
/// maximal subparts) replaced by U+FFFD, as most decoders do.
std::string replace_invalid_utf8(std::string_view text);

/// Unicode normalisation form C of well-formed UTF-8.
std::string normalize_nfc(std::string_view text);

}  // namespace tempera
