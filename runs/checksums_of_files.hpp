#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/checksum.hpp"

namespace tempera::gpu {

/// The first bytes of a file.
struct StartOf {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
};

/// The checksum of each, several files read at once (update_together). Memory does not grow with
/// their number or sizes.
/// @throw BadInput if a file cannot be read or is shorter
std::vector<Checksum> checksums_of(std::span<const StartOf> starts);

}  // namespace tempera::gpu
