#include "lab/ptx/accesses.hpp"

#include <algorithm>
#include <set>

#include "gpu/device/simt/simt.hpp"

namespace tempera::lab::ptx {

namespace {

using gpu::simt::coordinates;

constexpr std::uintptr_t bank_bytes = 4;
constexpr std::uintptr_t banks = 32;
constexpr std::uintptr_t sector_bytes = 32;

}  // namespace

void Accesses::note(unsigned line, Space space, const void* at, std::size_t bytes) {
  const std::size_t block =
      (std::size_t{coordinates.block.z} * coordinates.blocks.y + coordinates.block.y) *
          coordinates.blocks.x +
      coordinates.block.x;
  const std::size_t time = times_[{block, coordinates.thread, line, space}]++;
  const unsigned warp = coordinates.thread / gpu::simt::warp_lanes;
  accesses_[{space, block, warp, line, time}][coordinates.thread % gpu::simt::warp_lanes] = {
      reinterpret_cast<std::uintptr_t>(at), bytes};
}

Accesses::Counts Accesses::counts() const {
  Counts counts;
  for (const auto& [key, lanes] : accesses_) {
    if (std::get<Space>(key) == Space::shared) {
      // A warp moves 128 bytes a turn: of accesses of 16 bytes, those of 8 lanes.
      std::size_t widest = bank_bytes;
      for (const Access& access : lanes) widest = std::max(widest, access.bytes);
      const std::size_t together = banks * bank_bytes / widest;
      for (std::size_t first = 0; first < lanes.size(); first += together) {
        std::array<std::set<std::uintptr_t>, banks> words;  // of each bank
        for (std::size_t lane = first; lane < first + together; ++lane) {
          const Access& access = lanes[lane];
          for (std::uintptr_t b = 0; b < access.bytes; b += bank_bytes) {
            const std::uintptr_t word = (access.at + b) / bank_bytes;
            words[word % banks].insert(word);
          }
        }
        std::size_t turns = 0;
        for (const auto& of_bank : words) turns = std::max(turns, of_bank.size());
        counts.turns += turns;
        counts.fewest_turns += turns > 0 ? 1 : 0;
      }
      continue;
    }
    std::set<std::uintptr_t> bytes;
    std::set<std::uintptr_t> sectors;
    for (const Access& access : lanes) {
      for (std::uintptr_t b = 0; b < access.bytes; ++b) {
        bytes.insert(access.at + b);
        sectors.insert((access.at + b) / sector_bytes);
      }
    }
    counts.sectors += sectors.size();
    counts.fewest_sectors += (bytes.size() + sector_bytes - 1) / sector_bytes;
  }
  return counts;
}

}  // namespace tempera::lab::ptx
