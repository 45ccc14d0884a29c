#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tempera::gpu {

// Byte-level vocabularies (GPT-2 and after) write each byte as one printable character: the
// printable ones of Latin-1 as themselves, the other 68, in order, as U+0100, U+0101, ....

/// The bytes, one character each.
std::string to_byte_alphabet(std::string_view bytes);

/// The bytes that the characters of `text` stand for; nothing if one of them stands for none.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace tempera::gpu
