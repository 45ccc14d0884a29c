#include "base/checksum.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace tempera {
namespace {

/// A multiplication and the exclusive or before it take four steps of a processor.
constexpr std::size_t most_together = 4;

/// Takes the first `bytes` bytes of each piece, which lose them.
template <std::size_t... lane>
void update_lanes(const std::array<ChecksumPiece*, most_together>& pieces, std::size_t bytes,
                  std::index_sequence<lane...> /*lanes*/) {
  std::array<std::uint64_t, sizeof...(lane)> value{pieces[lane]->checksum->value()...};
  const std::array<const char*, sizeof...(lane)> from{pieces[lane]->bytes.data()...};
  for (std::size_t i = 0; i < bytes; ++i)
    ((value[lane] = (value[lane] ^ static_cast<unsigned char>(from[lane][i])) * Checksum::factor),
     ...);
  ((*pieces[lane]->checksum = Checksum(value[lane])), ...);
  (pieces[lane]->bytes.remove_prefix(bytes), ...);
}

}  // namespace

void update_together(std::span<const ChecksumPiece> pieces) {
  std::vector<ChecksumPiece> left(pieces.begin(), pieces.end());
  for (;;) {
    std::array<ChecksumPiece*, most_together> lanes{};
    std::size_t count = 0;
    std::size_t least = 0;
    for (ChecksumPiece& piece : left) {
      if (piece.bytes.empty() || count == most_together) continue;
      least = count == 0 ? piece.bytes.size() : std::min(least, piece.bytes.size());
      lanes[count++] = &piece;
    }
    switch (count) {
      case 0:
        return;
      case 1:
        update_lanes(lanes, least, std::make_index_sequence<1>());
        break;
      case 2:
        update_lanes(lanes, least, std::make_index_sequence<2>());
        break;
      case 3:
        update_lanes(lanes, least, std::make_index_sequence<3>());
        break;
      default:
        update_lanes(lanes, least, std::make_index_sequence<4>());
        break;
    }
  }
}

}  // namespace tempera
