#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tempera::gpu {

/// FNV-1a over 64-bit words, as 16 hexadecimal digits: the result of a host, recorded so that a
/// program without a host's form can be compared with it. To record anew, take what the failing
/// test of a build for the host has found.
inline std::string fingerprint_of(const std::vector<std::uint64_t>& words) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const std::uint64_t word : words)
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ (word >> (8 * byte) & 0xFFU)) * 0x100000001B3ULL;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace tempera::gpu
