#pragma once

#include "gpu/device/bfloat16_pairs.hpp"
#include "gpu/device/float_lanes.hpp"

// add_pair of bfloat16_pairs.hpp in every lane of a register, by what the instruction set has for
// it.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// While it lives, float32 operations take subnormal numbers as zeros, given or computed. What is
/// computed meanwhile must be in a function that is not inlined: nothing else keeps a compiler from
/// moving it out. The plain form does not need it: its operations are flushed one by one.
class SubnormalsAreZero {
#if defined(__FMA__)
 public:
  SubnormalsAreZero() : before_(_mm_getcsr()) {
    constexpr unsigned flush_results = 0x8000;
    constexpr unsigned flush_inputs = 0x0040;
    set(before_ | flush_results | flush_inputs);
  }
  ~SubnormalsAreZero() { set(before_); }

 private:
  static void set(unsigned control) {
    asm volatile("" ::: "memory");
    _mm_setcsr(control);
    asm volatile("" ::: "memory");
  }
  unsigned before_;
#else
 public:
  SubnormalsAreZero() {}
  ~SubnormalsAreZero() {}
#endif
 public:
  SubnormalsAreZero(const SubnormalsAreZero&) = delete;
  SubnormalsAreZero& operator=(const SubnormalsAreZero&) = delete;
};

#if defined(__AVX512BF16__) || !defined(__FMA__)

/// Whether a sum takes the two numbers of a pair one after the other, each as floats.
constexpr bool pairs_are_parted = false;

/// A pair of bfloat16s in every lane.
struct PairRegister {
  BitsRegister words;
};
inline PairRegister pairs_of_words(BitsRegister words) { return {words}; }

#else

constexpr bool pairs_are_parted = true;

/// The two numbers of a pair in every lane, as floats.
struct PairRegister {
  FloatRegister first;
  FloatRegister second;
};
inline PairRegister pairs_of_words(BitsRegister words) {
  return {reinterpret_cast<FloatRegister>(words << 16),
          reinterpret_cast<FloatRegister>(words & 0xFFFF0000U)};
}

#endif

/// memory[0 .. register_lanes).
inline BitsRegister load_words(const std::uint32_t* memory) {
  return *reinterpret_cast<const WordsInMemory*>(memory);
}

/// memory[0 .. register_lanes), a pair for each lane.
inline PairRegister load_pairs(const std::uint32_t* memory) {
  return pairs_of_words(load_words(memory));
}

/// Number 0 or 1 of the pairs in every lane, as floats.
template <std::size_t Number>
inline FloatRegister number_of_words(BitsRegister words) {
  return reinterpret_cast<FloatRegister>(Number == 0 ? words << 16 : words & 0xFFFF0000U);
}

/// The same word in every lane.
inline BitsRegister broadcast_word(std::uint32_t word) {
#if defined(__AVX512F__)
  return reinterpret_cast<BitsRegister>(_mm512_set1_epi32(static_cast<int>(word)));
#elif defined(__FMA__)
  return reinterpret_cast<BitsRegister>(_mm256_set1_epi32(static_cast<int>(word)));
#else
  return BitsRegister{word, word, word, word};
#endif
}

/// The same pair in every lane.
inline PairRegister broadcast_pair(std::uint32_t word) {
  return pairs_of_words(broadcast_word(word));
}

/// add_pair in every lane, while SubnormalsAreZero.
inline FloatRegister add_pair_register(const PairRegister& a, const PairRegister& b,
                                       FloatRegister sum) {
#if defined(__AVX512BF16__)
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a.words),
                          reinterpret_cast<__m512bh>(b.words));
#elif defined(__FMA__)
  return fused_multiply_add_register(a.first, b.first,
                                     fused_multiply_add_register(a.second, b.second, sum));
#else
  FloatRegister result{};
  for (std::size_t lane = 0; lane < register_lanes; ++lane) {
    result[lane] = add_pair(a.words[lane], b.words[lane], sum[lane]);
  }
  return result;
#endif
}

/// flushed_sum in every lane, while SubnormalsAreZero.
inline FloatRegister flushed_sum_register(FloatRegister a, FloatRegister b) {
#if defined(__FMA__)
  return a + b;
#else
  FloatRegister result{};
  for (std::size_t lane = 0; lane < register_lanes; ++lane) {
    result[lane] = flushed_sum(a[lane], b[lane]);
  }
  return result;
#endif
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
