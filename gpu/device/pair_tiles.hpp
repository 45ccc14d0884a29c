#pragma once

#include "gpu/device/pair_lanes.hpp"

// Sums of pairs by AMX, where the instruction set has it: TDPBF16PS adds a segment of 16 inputs'
// rows and 16 outputs to their 256 sums, in the order of docs/reference/arithmetic.md.

// Clang 14 has another name for it than GCC and later versions of Clang.
#if defined(__AMX_BF16__) || defined(__AMXBF16__)
#define TEMPERA_TILES
#endif

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Rows of inputs of a tile, and outputs.
constexpr std::size_t tile_side = 16;
/// Words of a tile, two bfloat16s each: of a row of inputs those of a segment, of weights those of
/// 16 outputs for each word of a segment.
constexpr std::size_t tile_words = tile_side * segment_pairs;
static_assert(segment_pairs == tile_side);

#if defined(TEMPERA_TILES)

constexpr bool sums_in_tiles = true;

/// While it lives, this thread has eight tiles of 16 rows of 16 words. What a tile is called is a
/// constant of the instruction.
class Tiles {
 public:
  Tiles() {
    struct alignas(64) Shapes {
      std::uint8_t palette;
      std::uint8_t first_row;
      std::uint8_t reserved[14];
      std::uint16_t row_bytes[16];
      std::uint8_t rows[16];
    };
    static constexpr Shapes shapes{
        1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
    static_assert(sizeof shapes == 64);
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  ~Tiles() { asm volatile("tilerelease"); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  template <int Tile>
  static void clear() {
    asm volatile("tilezero %%tmm%c0" : : "n"(Tile));
  }
  /// stride: words from one row to the next.
  template <int Tile, class Word>
  static void load(const Word* memory, std::size_t stride) {
    static_assert(sizeof(Word) == 4);
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0"
                 :
                 : "n"(Tile), "r"(memory), "r"(stride * 4)
                 : "memory");
  }
  template <int Tile>
  static void store(float* memory, std::size_t stride) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)"
                 :
                 : "n"(Tile), "r"(memory), "r"(stride * 4)
                 : "memory");
  }
  /// Sums + the segments of Inputs with those of Weights.
  template <int Sums, int Inputs, int Weights>
  static void add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "n"(Sums), "n"(Inputs), "n"(Weights));
  }
};

/// Stores what a tile takes of two pairs in every lane, (x0, x1) and (x2, x3): a row of the words
/// (x1, x3) and one of the words (x0, x2), the first number of each in the lower half. So the lower
/// halves of a tile's words are a segment's even pairs, the later number first, and the upper ones
/// its odd pairs.
inline void store_tile_words(BitsRegister even, BitsRegister odd, std::uint32_t* target) {
  *reinterpret_cast<WordsInMemory*>(target) = (even >> 16) | (odd & 0xFFFF0000U);
  *reinterpret_cast<WordsInMemory*>(target + tile_side) = (even & 0xFFFFU) | (odd << 16);
}

/// Puts 32 bfloat16s, which a row of inputs has side by side, into this order.
inline BitsRegister tile_words_of_row(BitsRegister words) {
  // Each eight bytes become their second number, the fourth, the first and the third.
  const auto order = reinterpret_cast<__m512i>(_mm512_set_epi64(
      0x0D0C09080F0E0B0A, 0x0504010007060302, 0x0D0C09080F0E0B0A, 0x0504010007060302,
      0x0D0C09080F0E0B0A, 0x0504010007060302, 0x0D0C09080F0E0B0A, 0x0504010007060302));
  return reinterpret_cast<BitsRegister>(
      _mm512_shuffle_epi8(reinterpret_cast<__m512i>(words), order));
}

#else

constexpr bool sums_in_tiles = false;

#endif

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
