#pragma once

#include "gpu/device/float_lanes.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/weights/fragments.hpp"

// A step of a tensor core, hopper_step or ampere_step, for the 16 outputs of a tile side by side.
// If no exponent is extreme, float32 operations give its bits; every other output goes through the
// step itself.
//
// Why the shortcut is exact for Hopper. Let E be the largest exponent of a term, as hopper_step
// takes it, and −100 <= E <= 126.
// - A product of two bfloat16s has 16 significant bits, so float32 holds it exactly unless it
// leaves
//   float32's range. It cannot be too large: below 4 · 2^E <= 2^128. If it is too small, below
//   2^−126, its exact value, the rounded one and whatever its scaling below makes of it all stay
//   below 2^−126 · 2^(25 − E) < 1, and are cut to 0.
// - Scaling by 2^(25 − E), a normal float32, is exact, or underflows to something below 1. The
//   conversion to an integer cuts toward zero. So each term becomes what hopper_step's shift
//   leaves.
// - Eight products, each below 4 · 2^25, and c, below 2 · 2^25, fit 32 bits. So do two such sums
//   together unless all are extreme: with AVX-512 an overflow is seen and goes to hopper_step, with
//   AVX2 the two are added as doubles.
// - The sum is cut toward zero to 24 bits, and scaling back by 2^(E − 25) is exact: it is 0, or at
//   least 2^−125 and so normal, or beyond float32 and infinite.
// - A term that is 0 must not take part in E. One whose input is 0 gets an exponent below all. One
//   whose weight is 0 would pass for 2^−126 · 2^e, e being its input's exponent; a c of 0, for
//   2^−126. Inputs of 2^26 and more go to hopper_step, so that all these are below −100 and decide
//   E only if it is out of range anyway.
// For Ampere and Ada the same is true of each half of a step, eight products and c, with 24 in the
// place of 25. Its sums are smaller. An output that is extreme in either half goes through
// ampere_step as a whole.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The steps of a chip: how many products join the sum at a time, and the bits that a term keeps.
struct HopperStep {
  static constexpr std::size_t together = static_cast<std::size_t>(hopper_rule.products);
  static constexpr int fraction_bits = hopper_rule.fraction_bits;
  static float of(const std::uint16_t* a, const std::uint16_t* b, float c) {
    return hopper_step(a, b, c);
  }
};
struct AmpereStep {
  static constexpr std::size_t together = static_cast<std::size_t>(ampere_rule.products);
  static constexpr int fraction_bits = ampere_rule.fraction_bits;
  static float of(const std::uint16_t* a, const std::uint16_t* b, float c) {
    return ampere_step(a, b, c);
  }
};

/// The sums of a tile's outputs, one in each lane; which one, the order of its weights says.
using TileSums = FloatLanes<fragment_outputs>;

/// Weights of a step as MatrixView's fragments.
struct InFragments {
  static constexpr std::size_t output_of_lane(std::size_t lane) {
    return lane / 2 + 8 * (lane % 2);
  }
  static constexpr std::size_t lane_of_output(std::size_t output) {
    return output % 8 * 2 + output / 8;
  }
  /// The word of a step with the inputs 2 pair and 2 pair + 1 of a lane.
  static constexpr std::size_t word(std::size_t lane, std::size_t pair) {
    return fragment_word(output_of_lane(lane), 2 * pair);
  }
};

/// Weights of a step with outputs side by side: [8 pairs of inputs, 16 outputs] words of two
/// bfloat16s.
struct InPairs {
  static constexpr std::size_t output_of_lane(std::size_t lane) { return lane; }
  static constexpr std::size_t lane_of_output(std::size_t output) { return output; }
  static constexpr std::size_t word(std::size_t lane, std::size_t pair) {
    return pair * fragment_outputs + lane;
  }
};

/// sum = the step for one lane.
template <class Order, class Step>
inline void step_of_lane(const std::uint32_t* step, const std::uint16_t* inputs, std::size_t lane,
                         float& sum) {
  std::uint16_t weights[step_products];
  for (std::size_t pair = 0; pair < step_products / 2; ++pair) {
    const std::uint32_t word = step[Order::word(lane, pair)];
    weights[2 * pair] = static_cast<std::uint16_t>(word);
    weights[2 * pair + 1] = static_cast<std::uint16_t>(word >> 16);
  }
  sum = Step::of(weights, inputs, sum);
}

/// Does the same for every lane whose bit is set.
template <class Order, class Step>
inline void step_of_lanes(const std::uint32_t* step, const std::uint16_t* inputs,
                          std::uint32_t which, TileSums& sums) {
  float values[fragment_outputs];
  store(sums, values);
  for (std::size_t lane = 0; lane < fragment_outputs; ++lane) {
    if ((which >> lane & 1U) != 0) step_of_lane<Order, Step>(step, inputs, lane, values[lane]);
  }
  sums = load<fragment_outputs>(values);
}

#if defined(__AVX2__) && defined(__FMA__)

constexpr std::size_t pairs = step_products / 2;
constexpr int exponent_of_zero = -1000;
/// The range of E, in the sum of two biased exponents.
constexpr int least_exponent = -100 + 254;
constexpr int greatest_exponent = 126 + 254;
/// The biased exponent of the greatest inputs that the shortcut takes.
constexpr int greatest_input_exponent = 25 + 127;

/// The inputs of one row in one step.
struct RowStep {
  alignas(64) float values[step_products];
  alignas(32) std::uint32_t exponents[pairs];  // two of 16 bits, biased
  bool takes_shortcut;

  explicit RowStep(const std::uint16_t* inputs) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(inputs));
    const __m256i field = _mm256_and_si256(_mm256_srli_epi16(bits, 7), _mm256_set1_epi16(0xFF));
    const __m256i zero = _mm256_cmpeq_epi16(_mm256_slli_epi16(bits, 1), _mm256_setzero_si256());
    const __m256i exponent = _mm256_blendv_epi8(_mm256_max_epi16(field, _mm256_set1_epi16(1)),
                                                _mm256_set1_epi16(exponent_of_zero), zero);
    _mm256_store_si256(reinterpret_cast<__m256i*>(exponents), exponent);
    for (std::size_t half = 0; half < 2; ++half) {
      const __m128i eight =
          half == 0 ? _mm256_castsi256_si128(bits) : _mm256_extracti128_si256(bits, 1);
      _mm256_store_ps(values + 8 * half,
                      _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight), 16)));
    }
    const __m256i large = _mm256_cmpgt_epi16(field, _mm256_set1_epi16(greatest_input_exponent));
    takes_shortcut = _mm256_testz_si256(large, large) != 0;
  }
};

#endif

#if defined(__AVX512F__)
// GCC 12 takes the operand that its own intrinsics leave undefined for a mistake (its bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// The weights of a tile in one step, taken apart once for all rows.
struct TileStep {
  __m512 values[step_products];  // by input
  __m512i exponents[pairs];      // by pair of inputs, two of 16 bits, biased

  TileStep(const std::uint32_t* step, InPairs) {
    for (std::size_t p = 0; p < pairs; ++p) take_pair(_mm512_loadu_si512(step + 16 * p), p);
  }
  TileStep(const std::uint32_t* step, InFragments) {
    // Row g of 8 words of 64 bits: output g and g + 8 of the pairs 0, 4, 1, 5, 2, 6, 3, 7.
    __m512i row[8];
    for (std::size_t g = 0; g < 8; ++g) row[g] = _mm512_loadu_si512(step + 16 * g);
    __m512i even[4];
    __m512i odd[4];
    for (std::size_t g = 0; g < 4; ++g) {
      even[g] = _mm512_unpacklo_epi64(row[2 * g], row[2 * g + 1]);
      odd[g] = _mm512_unpackhi_epi64(row[2 * g], row[2 * g + 1]);
    }
    take_apart(even, 0);
    take_apart(odd, 4);
  }

 private:
  /// Pairs first, first + 1, first + 2, first + 3.
  void take_apart(const __m512i (&rows)[4], std::size_t first) {
    const __m512i low_02 = _mm512_shuffle_i64x2(rows[0], rows[1], 0x88);
    const __m512i high_02 = _mm512_shuffle_i64x2(rows[2], rows[3], 0x88);
    const __m512i low_13 = _mm512_shuffle_i64x2(rows[0], rows[1], 0xDD);
    const __m512i high_13 = _mm512_shuffle_i64x2(rows[2], rows[3], 0xDD);
    take_pair(_mm512_shuffle_i64x2(low_02, high_02, 0x88), first);
    take_pair(_mm512_shuffle_i64x2(low_13, high_13, 0x88), first + 1);
    take_pair(_mm512_shuffle_i64x2(low_02, high_02, 0xDD), first + 2);
    take_pair(_mm512_shuffle_i64x2(low_13, high_13, 0xDD), first + 3);
  }
  void take_pair(__m512i pair, std::size_t p) {
    values[2 * p] = _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
    values[2 * p + 1] = _mm512_castsi512_ps(
        _mm512_and_si512(pair, _mm512_set1_epi32(static_cast<int>(0xFFFF0000))));
    const __m512i field = _mm512_and_si512(_mm512_srli_epi16(pair, 7), _mm512_set1_epi16(0xFF));
    exponents[p] = _mm512_max_epi16(field, _mm512_set1_epi16(1));
  }
};

/// The products from `first` on that join the sum together: c becomes their sum with it in every
/// lane but those that it gives, whose exponents are extreme.
template <class Step>
inline std::uint32_t add_products(const TileStep& tile, const RowStep& row, std::size_t first,
                                  __m512& c) {
  constexpr int bits = Step::fraction_bits;
  __m512i both = _mm512_set1_epi16(exponent_of_zero);
  for (std::size_t p = first / 2; p < (first + Step::together) / 2; ++p) {
    const __m512i inputs_two = _mm512_set1_epi32(static_cast<int>(row.exponents[p]));
    both = _mm512_max_epi16(both, _mm512_add_epi16(tile.exponents[p], inputs_two));
  }
  __m512i largest = _mm512_max_epi32(_mm512_srai_epi32(_mm512_slli_epi32(both, 16), 16),
                                     _mm512_srai_epi32(both, 16));
  const __m512i field_c =
      _mm512_and_si512(_mm512_srli_epi32(_mm512_castps_si512(c), 23), _mm512_set1_epi32(0xFF));
  largest = _mm512_max_epi32(
      largest,
      _mm512_add_epi32(_mm512_max_epi32(field_c, _mm512_set1_epi32(1)), _mm512_set1_epi32(127)));
  const __mmask16 extreme =
      _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(largest, _mm512_set1_epi32(least_exponent)),
                              _mm512_set1_epi32(greatest_exponent - least_exponent));

  // The exponent fields of 2^(bits − E) and 2^(E − bits).
  const __m512 scale = _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_sub_epi32(_mm512_set1_epi32(127 + bits + 254), largest), 23));
  const __m512 back = _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_sub_epi32(largest, _mm512_set1_epi32(254 + bits - 127)), 23));
  __m512i left = _mm512_cvttps_epi32(_mm512_mul_ps(c, scale));
  __m512i right = _mm512_setzero_si512();
  for (std::size_t i = first; i < first + Step::together; i += 2) {
    const __m512 one = _mm512_mul_ps(tile.values[i], _mm512_set1_ps(row.values[i]));
    const __m512 two = _mm512_mul_ps(tile.values[i + 1], _mm512_set1_ps(row.values[i + 1]));
    left = _mm512_add_epi32(left, _mm512_cvttps_epi32(_mm512_mul_ps(one, scale)));
    right = _mm512_add_epi32(right, _mm512_cvttps_epi32(_mm512_mul_ps(two, scale)));
  }
  const __m512i sum = _mm512_add_epi32(left, right);
  const __mmask16 overflown = _mm512_movepi32_mask(
      _mm512_and_si512(_mm512_xor_si512(left, sum), _mm512_xor_si512(right, sum)));
  const __m512 cut = _mm512_cvt_roundepi32_ps(sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  c = _mm512_mul_ps(cut, back);
  return extreme | overflown;
}

/// sums = the step in the lanes that `live` names; the others are nobody's.
template <class Order, class Step>
inline void add_step(const TileStep& tile, const std::uint32_t* step, const RowStep& row,
                     const std::uint16_t* inputs, std::uint32_t live, TileSums& sums) {
  if (!row.takes_shortcut) return step_of_lanes<Order, Step>(step, inputs, live, sums);
  __m512 sum = sums.parts[0];
  std::uint32_t others = 0;
  for (std::size_t first = 0; first < step_products; first += Step::together) {
    others |= add_products<Step>(tile, row, first, sum);
  }
  others &= live;
  if (others == 0) {
    sums.parts[0] = sum;
    return;
  }
  sums.parts[0] = _mm512_mask_mov_ps(sum, static_cast<__mmask16>(others), sums.parts[0]);
  step_of_lanes<Order, Step>(step, inputs, others, sums);
}

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#elif defined(__AVX2__) && defined(__FMA__)

/// The weights of a tile in one step, taken apart once for all rows.
struct TileStep {
  static constexpr std::size_t halves = 2;  // lanes 0 … 7 and 8 … 15
  __m256 values[halves][step_products];     // by input
  __m256i exponents[halves][pairs];         // by pair of inputs, two of 16 bits, biased

  TileStep(const std::uint32_t* step, InPairs) {
    for (std::size_t p = 0; p < pairs; ++p) {
      for (std::size_t half = 0; half < halves; ++half) {
        take_pair(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(step + 16 * p + 8 * half)),
                  half, p);
      }
    }
  }
  TileStep(const std::uint32_t* step, InFragments) {
    for (std::size_t half = 0; half < halves; ++half) {
      for (std::size_t part = 0; part < 2; ++part) {
        // Row g of 4 words of 64 bits: output g and g + 8 of the pairs p, p + 4, p + 1, p + 5.
        __m256i row[4];
        for (std::size_t g = 0; g < 4; ++g) {
          row[g] = _mm256_loadu_si256(
              reinterpret_cast<const __m256i_u*>(step + 64 * half + 16 * g + 8 * part));
        }
        const __m256i even_01 = _mm256_unpacklo_epi64(row[0], row[1]);
        const __m256i even_23 = _mm256_unpacklo_epi64(row[2], row[3]);
        const __m256i odd_01 = _mm256_unpackhi_epi64(row[0], row[1]);
        const __m256i odd_23 = _mm256_unpackhi_epi64(row[2], row[3]);
        take_pair(_mm256_permute2x128_si256(even_01, even_23, 0x20), half, 2 * part);
        take_pair(_mm256_permute2x128_si256(odd_01, odd_23, 0x20), half, 2 * part + 4);
        take_pair(_mm256_permute2x128_si256(even_01, even_23, 0x31), half, 2 * part + 1);
        take_pair(_mm256_permute2x128_si256(odd_01, odd_23, 0x31), half, 2 * part + 5);
      }
    }
  }

 private:
  void take_pair(__m256i pair, std::size_t half, std::size_t p) {
    values[half][2 * p] = _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16));
    values[half][2 * p + 1] = _mm256_castsi256_ps(
        _mm256_and_si256(pair, _mm256_set1_epi32(static_cast<int>(0xFFFF0000))));
    const __m256i field = _mm256_and_si256(_mm256_srli_epi16(pair, 7), _mm256_set1_epi16(0xFF));
    exponents[half][p] = _mm256_max_epi16(field, _mm256_set1_epi16(1));
  }
};

/// Four sums of two integers, cut toward zero to 24 bits and scaled by 2^exponent.
inline __m128 cut_and_scale(__m128i left, __m128i right, __m128i exponent) {
  const __m256d sum = _mm256_add_pd(_mm256_cvtepi32_pd(left), _mm256_cvtepi32_pd(right));
  const __m256d kept_bits = _mm256_castsi256_pd(_mm256_set1_epi64x(~0x1FFFFFFFLL));
  const __m256i field = _mm256_slli_epi64(
      _mm256_add_epi64(_mm256_cvtepi32_epi64(exponent), _mm256_set1_epi64x(1023)), 52);
  return _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_and_pd(sum, kept_bits), _mm256_castsi256_pd(field)));
}

/// The products from `first` on that join the sum together, for the lanes of one half: c becomes
/// their sum with it in every lane but those that it gives, whose exponents are extreme.
template <class Step>
inline std::uint32_t add_products(const TileStep& tile, std::size_t half, const RowStep& row,
                                  std::size_t first, __m256& c) {
  constexpr int bits = Step::fraction_bits;
  __m256i both = _mm256_set1_epi16(exponent_of_zero);
  for (std::size_t p = first / 2; p < (first + Step::together) / 2; ++p) {
    const __m256i inputs_two = _mm256_set1_epi32(static_cast<int>(row.exponents[p]));
    both = _mm256_max_epi16(both, _mm256_add_epi16(tile.exponents[half][p], inputs_two));
  }
  __m256i largest = _mm256_max_epi32(_mm256_srai_epi32(_mm256_slli_epi32(both, 16), 16),
                                     _mm256_srai_epi32(both, 16));
  const __m256i field_c =
      _mm256_and_si256(_mm256_srli_epi32(_mm256_castps_si256(c), 23), _mm256_set1_epi32(0xFF));
  largest = _mm256_max_epi32(
      largest,
      _mm256_add_epi32(_mm256_max_epi32(field_c, _mm256_set1_epi32(1)), _mm256_set1_epi32(127)));
  const __m256i extreme =
      _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(least_exponent), largest),
                      _mm256_cmpgt_epi32(largest, _mm256_set1_epi32(greatest_exponent)));

  // The exponent field of 2^(bits − E).
  const __m256 scale = _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_sub_epi32(_mm256_set1_epi32(127 + bits + 254), largest), 23));
  __m256i left = _mm256_cvttps_epi32(_mm256_mul_ps(c, scale));
  __m256i right = _mm256_setzero_si256();
  for (std::size_t i = first; i < first + Step::together; i += 2) {
    const __m256 one = _mm256_mul_ps(tile.values[half][i], _mm256_set1_ps(row.values[i]));
    const __m256 two = _mm256_mul_ps(tile.values[half][i + 1], _mm256_set1_ps(row.values[i + 1]));
    left = _mm256_add_epi32(left, _mm256_cvttps_epi32(_mm256_mul_ps(one, scale)));
    right = _mm256_add_epi32(right, _mm256_cvttps_epi32(_mm256_mul_ps(two, scale)));
  }
  const __m256i exponent = _mm256_sub_epi32(largest, _mm256_set1_epi32(254 + bits));
  const __m128 low = cut_and_scale(_mm256_castsi256_si128(left), _mm256_castsi256_si128(right),
                                   _mm256_castsi256_si128(exponent));
  const __m128 high =
      cut_and_scale(_mm256_extracti128_si256(left, 1), _mm256_extracti128_si256(right, 1),
                    _mm256_extracti128_si256(exponent, 1));
  c = _mm256_set_m128(high, low);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(extreme)));
}

/// sums = the step in the lanes that `live` names; the others are nobody's.
template <class Order, class Step>
inline void add_step(const TileStep& tile, const std::uint32_t* step, const RowStep& row,
                     const std::uint16_t* inputs, std::uint32_t live, TileSums& sums) {
  if (!row.takes_shortcut) return step_of_lanes<Order, Step>(step, inputs, live, sums);
  const TileSums before = sums;
  std::uint32_t others = 0;
  for (std::size_t half = 0; half < TileStep::halves; ++half) {
    __m256 sum = sums.parts[half];
    for (std::size_t first = 0; first < step_products; first += Step::together) {
      others |= add_products<Step>(tile, half, row, first, sum) << (8 * half);
    }
    sums.parts[half] = sum;
  }
  others &= live;
  if (others == 0) return;
  // They go on from what they held.
  float held[fragment_outputs];
  float now[fragment_outputs];
  store(before, held);
  store(sums, now);
  for (std::size_t lane = 0; lane < fragment_outputs; ++lane) {
    if ((others >> lane & 1U) != 0) now[lane] = held[lane];
  }
  sums = load<fragment_outputs>(now);
  step_of_lanes<Order, Step>(step, inputs, others, sums);
}

#else

struct TileStep {
  template <class Order>
  TileStep(const std::uint32_t* /*step*/, Order) {}
};
struct RowStep {
  explicit RowStep(const std::uint16_t* /*inputs*/) {}
};

/// sums = the step in the lanes that `live` names; the others are nobody's.
template <class Order, class Step>
inline void add_step(const TileStep& /*tile*/, const std::uint32_t* step, const RowStep& /*row*/,
                     const std::uint16_t* inputs, std::uint32_t live, TileSums& sums) {
  step_of_lanes<Order, Step>(step, inputs, live, sums);
}

#endif

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
