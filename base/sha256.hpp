#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tempera {

/// The SHA-256 digest (FIPS 180-4) of bytes, as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

}  // namespace tempera
