#include "runs/checksums_of_files.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <numeric>

#include "base/disk.hpp"

namespace tempera::gpu {

std::vector<Checksum> checksums_of(std::span<const StartOf> starts) {
  constexpr std::size_t most_open = 4;  // as update_together takes
  std::vector<std::size_t> order(starts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The longest first, so that none is left to be read alone.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return starts[a].bytes > starts[b].bytes; });
  struct Reading {
    Checksum* checksum;
    FileStart start;
  };
  std::vector<Checksum> checksums(starts.size());
  std::list<Reading> open;
  auto next = order.begin();
  std::vector<ChecksumPiece> pieces;
  do {
    for (; open.size() < most_open && next != order.end(); ++next)
      open.push_back({&checksums[*next], FileStart(starts[*next].file, starts[*next].bytes)});
    pieces.clear();
    for (auto reading = open.begin(); reading != open.end();) {
      const std::string_view piece = reading->start.next();
      if (!piece.empty()) pieces.push_back({reading->checksum, piece});
      reading = piece.empty() ? open.erase(reading) : std::next(reading);
    }
    update_together(pieces);
  } while (!pieces.empty() || next != order.end());
  return checksums;
}

}  // namespace tempera::gpu
