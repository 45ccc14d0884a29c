#pragma once

#include "gpu/core/lottery/row_kernels.hpp"
#include "gpu/device/float_lanes.hpp"

// The passes over all logits of a row for the host's threads: tickets_at and grains_at of several
// tokens side by side, in the same operations, so with the same bits. Compilers make a vector loop
// of the scalar form or one that is five times slower, as it comes.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

constexpr std::size_t double_lanes = register_lanes / 2;
typedef double DoubleRegister __attribute__((vector_size(8 * double_lanes)));
typedef std::uint64_t WordRegister __attribute__((vector_size(8 * double_lanes)));
typedef float HalfOfFloats __attribute__((vector_size(4 * double_lanes)));
typedef HalfOfFloats HalfOfFloatsInMemory __attribute__((aligned(4), may_alias));

inline DoubleRegister broadcast_double(double value) { return value - DoubleRegister{}; }

/// a·b + c with one rounding in every lane.
inline DoubleRegister fused_multiply_add(DoubleRegister a, DoubleRegister b, DoubleRegister c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  DoubleRegister result{};
  for (std::size_t lane = 0; lane < double_lanes; ++lane) {
    result[lane] = gpu::fused_multiply_add(a[lane], b[lane], c[lane]);
  }
  return result;
#endif
}

/// Registers that go through an exponential side by side: a single chain would wait for itself.
constexpr std::size_t chains = 4;
/// Tokens of one turn.
constexpr std::size_t turn_tokens = chains * double_lanes;

struct DoubleChains {
  DoubleRegister parts[chains];
};
struct WordChains {
  WordRegister parts[chains];
};

/// 2^Power · e^x before it is rounded, as the bits of a double: what rounded_exponential begins
/// with. Range: as there.
template <std::uint64_t Power>
inline WordChains scaled_exponential_bits(const DoubleChains& x) {
  // An even power may join the number that rounds to an integer: ties go the same way.
  constexpr std::uint64_t joined = Power % 2 == 0 ? Power : 0;
  const DoubleRegister to_integer = broadcast_double(0x1.8p+52 + static_cast<double>(joined));
  DoubleRegister shifted[chains];
  DoubleRegister r[chains];
  DoubleRegister p[chains];
  for (std::size_t i = 0; i < chains; ++i) {
    shifted[i] = fused_multiply_add(x.parts[i], broadcast_double(0x1.71547652b82fep+0), to_integer);
    const DoubleRegister n = shifted[i] - to_integer;
    r[i] = fused_multiply_add(-n, broadcast_double(0x1.62e42fefa39efp-1), x.parts[i]);
    r[i] = fused_multiply_add(-n, broadcast_double(0x1.abc9e3b39803fp-56), r[i]);
    p[i] = broadcast_double(1.0 / 6227020800.0);
  }
  for (const double coefficient :
       {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
        1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0}) {
    for (std::size_t i = 0; i < chains; ++i)
      p[i] = fused_multiply_add(p[i], r[i], broadcast_double(coefficient));
  }
  WordChains bits;
  for (std::size_t i = 0; i < chains; ++i) {
    // Of n only the last twelve bits reach the exponent, and they are those of `shifted`.
    bits.parts[i] = reinterpret_cast<WordRegister>(p[i]) +
                    ((reinterpret_cast<WordRegister>(shifted[i]) + (Power - joined)) << 52);
  }
  return bits;
}

constexpr std::uint64_t fraction_bits = 0x000FFFFFFFFFFFFFULL;

/// A double below 2^52, rounded to the nearest integer, ties to even.
inline WordRegister round_below_2_52(WordRegister bits) {
  return reinterpret_cast<WordRegister>(reinterpret_cast<DoubleRegister>(bits) +
                                        broadcast_double(0x1p+52)) &
         fraction_bits;
}

/// Σ of whole numbers of 63 bits in every lane, in two halves that do not overflow.
struct GrainLanes {
  WordRegister high{};
  WordRegister low{};

  void add(WordRegister grains) {
    high += grains >> 32;
    low += grains & 0xFFFFFFFFULL;
  }
  GrainSum sum() const {
    GrainSum total;
    for (std::size_t lane = 0; lane < double_lanes; ++lane) {
      total = total + GrainSum{high[lane] >> 32, high[lane] << 32} + GrainSum{0, low[lane]};
    }
    return total;
  }
};

/// x, or `least` if it is below that.
inline DoubleChains at_least(DoubleChains x, double least) {
  for (auto& part : x.parts) part = part < least ? broadcast_double(least) : part;
  return x;
}

/// Whether some lane is at least `least`. If none is, a turn needs no exponential: so it is for
/// most tokens of a trained model at a high power.
inline bool has_at_least(const DoubleChains& x, double least) {
  WordRegister reached{};
  for (const auto& part : x.parts) reached |= reinterpret_cast<WordRegister>(part >= least);
  std::uint64_t any = 0;
  for (std::size_t lane = 0; lane < double_lanes; ++lane) any |= reached[lane];
  return any != 0;
}

/// Whether a lane is not forbidden: all its bits, or none.
inline WordRegister is_allowed(DoubleRegister distances) {
  return reinterpret_cast<WordRegister>(distances >= -1.7976931348623157e308);
}

/// log 2^-44: a token has one ticket there and everywhere below.
constexpr double one_ticket = -0x1.e7f9c1e980fa9p+4;

/// tickets_at of every lane, added to the lanes of a sum.
inline void add_tickets(const DoubleChains& distances, double power, WordRegister& sum) {
  DoubleChains x;
  for (std::size_t i = 0; i < chains; ++i)
    x.parts[i] = distances.parts[i] * broadcast_double(power);
  if (!has_at_least(x, one_ticket)) {
    for (const auto& part : distances.parts) sum += is_allowed(part) & 1;
    return;
  }
  const WordChains bits = scaled_exponential_bits<44>(at_least(x, one_ticket));
  for (std::size_t i = 0; i < chains; ++i) {
    // At most 2^44 tickets: none is beyond 2^52.
    const WordRegister tickets = round_below_2_52(bits.parts[i]);
    sum += is_allowed(distances.parts[i]) ? tickets : WordRegister{};
  }
}

/// grains_at of every lane, added to the lanes of a sum.
inline void add_grains(const DoubleChains& distances, GrainLanes& sum) {
  if (!has_at_least(distances, no_grain_below)) return;
  const WordChains all_bits = scaled_exponential_bits<63>(at_least(distances, no_grain_below));
  for (const WordRegister bits : all_bits.parts) {
    const WordRegister exponent = bits >> 52;
    const WordRegister whole = ((bits & fraction_bits) | (fraction_bits + 1))
                               << (exponent < 1075 ? WordRegister{} : exponent - 1075);
    sum.add(exponent < 1075 ? round_below_2_52(bits) : whole);
  }
}

/// ℓ_v − max ℓ of the tokens of one turn.
inline DoubleChains distances_of(const float* logits, float largest) {
  DoubleChains result;
  for (std::size_t i = 0; i < chains; ++i) {
    const HalfOfFloats loaded =
        *reinterpret_cast<const HalfOfFloatsInMemory*>(logits + i * double_lanes);
    result.parts[i] = __builtin_convertvector(loaded, DoubleRegister) -
                      broadcast_double(static_cast<double>(largest));
  }
  return result;
}

/// SumTickets (row_kernels.hpp), by lanes.
struct SumTicketsByLanes {
  /// Rungs that share the distances of a turn.
  static constexpr std::uint64_t rungs_together = 8;

  RowBatch batch;

  void operator()(std::uint64_t item) const {
    const std::uint64_t row = item / batch.chunks;
    if (batch.status[row] != 0) return;
    const std::uint64_t c = item % batch.chunks;
    const float largest = batch.largest[row];
    const RowRequest& request = batch.requests[row];
    const double* powers = batch.powers + request.first_rung;
    std::uint64_t* ticket_sums = batch.ticket_sums_of(request, c);
    const float* logits = batch.logits + row * batch.vocabulary + batch.begin_of(c);
    const std::uint64_t tokens = batch.end_of(c) - batch.begin_of(c);
    const std::uint64_t in_lanes = tokens / turn_tokens * turn_tokens;
    GrainLanes lane_sums;
    for (std::uint64_t first = 0; first == 0 || first < request.rungs; first += rungs_together) {
      const std::uint64_t left = request.rungs - first;
      const std::uint64_t rungs = left < rungs_together ? left : rungs_together;
      WordRegister sums[rungs_together] = {};
      for (std::uint64_t v = 0; v < in_lanes; v += turn_tokens) {
        const DoubleChains distances = distances_of(logits + v, largest);
        if (first == 0) add_grains(distances, lane_sums);
        for (std::uint64_t k = 0; k < rungs; ++k)
          add_tickets(distances, powers[first + k], sums[k]);
      }
      for (std::uint64_t k = 0; k < rungs; ++k) {
        std::uint64_t sum = 0;
        for (std::size_t lane = 0; lane < double_lanes; ++lane) sum += sums[k][lane];
        for (std::uint64_t v = in_lanes; v < tokens; ++v)
          sum += tickets_of(logits[v], largest, powers[first + k]);
        ticket_sums[first + k] = sum;
      }
    }
    GrainSum grains = lane_sums.sum();
    for (std::uint64_t v = in_lanes; v < tokens; ++v)
      grains = grains + grains_of(logits[v], largest);
    batch.grain_sums[item] = grains;
  }
};

/// FindChunkLargest (row_kernels.hpp), by lanes.
struct FindChunkLargestByLanes {
  RowBatch batch;

  void operator()(std::uint64_t item) const {
    const std::uint64_t row = item / batch.chunks;
    const std::uint64_t c = item % batch.chunks;
    const float* logits = batch.logits + row * batch.vocabulary + batch.begin_of(c);
    const std::uint64_t tokens = batch.end_of(c) - batch.begin_of(c);
    const std::uint64_t in_lanes = tokens / register_lanes * register_lanes;
    FloatRegister largest_of_lanes = broadcast_register(logits[0]);
    BitsRegister sound_lanes = ~BitsRegister{};
    for (std::uint64_t v = 0; v < in_lanes; v += register_lanes) {
      const FloatRegister part = load_register(logits + v);
      // False for NaN and +infinity.
      sound_lanes &=
          reinterpret_cast<BitsRegister>(part <= broadcast_register(3.4028234663852886e38F));
      largest_of_lanes = part > largest_of_lanes ? part : largest_of_lanes;
    }
    float largest = logits[0];
    bool sound = true;
    for (std::size_t lane = 0; lane < register_lanes; ++lane) {
      sound = sound && sound_lanes[lane] != 0;
      if (largest_of_lanes[lane] > largest) largest = largest_of_lanes[lane];
    }
    for (std::uint64_t v = in_lanes; v < tokens; ++v) {
      sound = sound && logits[v] <= 3.4028234663852886e38F;
      if (logits[v] > largest) largest = logits[v];
    }
    batch.chunk_largest[item] = sound ? largest : FindChunkLargest::not_a_number();
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
