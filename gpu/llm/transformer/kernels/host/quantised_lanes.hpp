#pragma once

#include "gpu/device/float_lanes.hpp"
#include "gpu/llm/transformer/weights/quantised_block.hpp"
#include "gpu/llm/transformer/weights/weight_reader.hpp"

// The weights of one or more blocks of 16 outputs for one input after another: what weight_of_block
// gives for each, in the same operations.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

typedef std::uint8_t ByteRegister __attribute__((vector_size(register_lanes)));
typedef ByteRegister BytesInMemory __attribute__((aligned(1), may_alias));

/// Registers that hold one weight of each output of a block.
constexpr std::size_t block_registers = lanes / register_lanes;

/// Where blocks of one type are.
template <std::size_t Blocks>
struct BlocksInMemory {
  static constexpr std::size_t registers = Blocks * block_registers;
  using Lanes = FloatLanes<Blocks * lanes>;

  const std::byte* of_block[Blocks];

  /// The same place further on in each.
  BlocksInMemory operator+(std::size_t bytes) const {
    BlocksInMemory result;
    for (std::size_t i = 0; i < Blocks; ++i) result.of_block[i] = of_block[i] + bytes;
    return result;
  }
  /// Where the elements of a register begin, of `Element`s that are side by side in each block.
  template <class Element>
  const std::byte* of_register(std::size_t index) const {
    return of_block[index / block_registers] +
           index % block_registers * register_lanes * sizeof(Element);
  }
};

/// A word of 32 bits of each output.
template <std::size_t Blocks>
struct WordLanes {
  BitsRegister parts[BlocksInMemory<Blocks>::registers];
};

template <std::size_t Blocks>
inline WordLanes<Blocks> load_words(const BlocksInMemory<Blocks>& memory) {
  WordLanes<Blocks> result;
  for (std::size_t i = 0; i < memory.registers; ++i) {
    result.parts[i] =
        *reinterpret_cast<const WordsInMemory*>(memory.template of_register<std::uint32_t>(i));
  }
  return result;
}

/// Whole numbers as floats; exact below 2^24.
inline FloatRegister to_floats(IntegerRegister numbers) {
  return __builtin_convertvector(numbers, FloatRegister);
}

/// Quant `index` of `Bits` bits of each word.
template <unsigned Bits, std::size_t Blocks>
inline FloatLanes<Blocks * lanes> quants(const WordLanes<Blocks>& words, unsigned index) {
  FloatLanes<Blocks * lanes> result;
  for (std::size_t i = 0; i < result.registers; ++i) {
    result.parts[i] = to_floats(
        reinterpret_cast<IntegerRegister>(words.parts[i] >> (Bits * index) & ((1U << Bits) - 1U)));
  }
  return result;
}

/// Quant `index` of four bits of each word, plus `Least`: a whole number, so its float is exact.
template <int Least, std::size_t Blocks>
inline FloatLanes<Blocks * lanes> quants_of_four(const WordLanes<Blocks>& words, unsigned index) {
#if defined(__AVX512F__)
  // One look-up, which takes the low four bits of a word, for what would be three instructions.
  constexpr auto least = static_cast<float>(Least);
  const FloatRegister of_quant{
      least,     least + 1, least + 2,  least + 3,  least + 4,  least + 5,  least + 6,  least + 7,
      least + 8, least + 9, least + 10, least + 11, least + 12, least + 13, least + 14, least + 15};
  FloatLanes<Blocks * lanes> result;
  for (std::size_t i = 0; i < result.registers; ++i) {
    // Does what _mm512_permutexvar_ps does, in which GCC 12 finds something uninitialised.
    result.parts[i] = _mm512_maskz_permutexvar_ps(
        0xFFFF, reinterpret_cast<__m512i>(words.parts[i] >> (4 * index)), of_quant);
  }
  return result;
#else
  const auto result = quants<4>(words, index);
  if constexpr (Least == 0) {
    return result;
  } else {
    return result + broadcast<Blocks * lanes>(static_cast<float>(Least));
  }
#endif
}

/// Does the same with eight bits with a sign.
template <std::size_t Blocks>
inline FloatLanes<Blocks * lanes> signed_quants(const WordLanes<Blocks>& words, unsigned index) {
  FloatLanes<Blocks * lanes> result;
  for (std::size_t i = 0; i < result.registers; ++i) {
    const auto moved = reinterpret_cast<IntegerRegister>(words.parts[i] << (24 - 8 * index));
    result.parts[i] = to_floats(moved >> 24);
  }
  return result;
}

/// Quants of four bits, and `Bits` bits above them.
template <unsigned Bits, std::size_t Blocks>
inline FloatLanes<Blocks * lanes> quants_above_four(const WordLanes<Blocks>& low,
                                                    unsigned low_index,
                                                    const WordLanes<Blocks>& high,
                                                    unsigned high_index) {
  constexpr std::uint32_t mask = (1U << Bits) - 1U;
  FloatLanes<Blocks * lanes> result;
  for (std::size_t i = 0; i < result.registers; ++i) {
    result.parts[i] = to_floats(
        reinterpret_cast<IntegerRegister>((low.parts[i] >> (4 * low_index) & 15U) |
                                          (high.parts[i] >> (Bits * high_index) & mask) << 4));
  }
  return result;
}

/// Finite float16s. Flushed: subnormal float32s may be zero meanwhile (SubnormalsAreZero), and
/// subnormal float16s keep their values, for two operations more.
template <bool Flushed, std::size_t Blocks>
inline FloatLanes<Blocks * lanes> load_float16(const BlocksInMemory<Blocks>& memory) {
  FloatLanes<Blocks * lanes> result;
  for (std::size_t i = 0; i < result.registers; ++i) {
    const HalfRegister halves =
        *reinterpret_cast<const HalvesInMemory*>(memory.template of_register<std::uint16_t>(i));
    const BitsRegister bits = __builtin_convertvector(halves, BitsRegister);
    const BitsRegister moved = (bits & 0x7FFFU) << 13;
    FloatRegister magnitude;
    if constexpr (Flushed) {
      // As if no number were subnormal. One that is has the least exponent, 2^-15, and is twice
      // what is above 2^-15; of the others that is more than they are.
      const auto normal = reinterpret_cast<FloatRegister>(moved + (std::uint32_t{112} << 23));
      magnitude = least_register(normal, normal + normal - broadcast_register(0x1p-14f));
    } else {
      magnitude = reinterpret_cast<FloatRegister>(moved) * broadcast_register(0x1p112f);
    }
    result.parts[i] = reinterpret_cast<FloatRegister>(reinterpret_cast<BitsRegister>(magnitude) |
                                                      (bits & 0x8000U) << 16);
  }
  return result;
}

/// Floats, or bfloat16s as floats.
template <class Stored, std::size_t Blocks>
inline FloatLanes<Blocks * lanes> load_floats(const BlocksInMemory<Blocks>& memory) {
  FloatLanes<Blocks * lanes> result;
  for (std::size_t i = 0; i < result.registers; ++i) {
    result.parts[i] =
        load_register(reinterpret_cast<const Stored*>(memory.template of_register<Stored>(i)));
  }
  return result;
}

/// Bytes as whole numbers, without or with a sign.
template <std::size_t Blocks>
inline FloatLanes<Blocks * lanes> load_bytes(const BlocksInMemory<Blocks>& memory, bool has_sign) {
  FloatLanes<Blocks * lanes> result;
  for (std::size_t i = 0; i < result.registers; ++i) {
    const ByteRegister bytes =
        *reinterpret_cast<const BytesInMemory*>(memory.template of_register<std::uint8_t>(i));
    auto numbers = __builtin_convertvector(bytes, IntegerRegister);
    if (has_sign) numbers = numbers << 24 >> 24;
    result.parts[i] = to_floats(numbers);
  }
  return result;
}

/// The readers of a type call add(i, weights of input i) for the inputs begin .. end - 1, which are
/// whole runs of 32. `type` is what they are stored in; Flushed is what load_float16 takes.

template <std::size_t Blocks, bool Flushed>
struct ReadQ8_0 {
  static constexpr Packing type = Packing::q8_0;
  BlocksInMemory<Blocks> blocks;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Packing::q8_0);
    for (std::size_t i = begin; i < end; i += 32) {
      const auto stored = blocks + i / 32 * layout.bytes;
      const auto step = load_float16<Flushed>(stored);
      for (unsigned word = 0; word < 8; ++word) {
        const auto words = load_words(stored + (layout.quants + word * (4 * lanes)));
#pragma GCC unroll 4
        for (unsigned j = 0; j < 4; ++j)
          add(i + std::size_t{4} * word + j, step * signed_quants(words, j));
      }
    }
  }
};

/// q8_scaled: as Q8_0, with a scale of each run.
template <std::size_t Blocks, bool Flushed>
struct ReadQ8Scaled {
  static constexpr Packing type = Packing::q8_scaled;
  BlocksInMemory<Blocks> blocks;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Packing::q8_scaled);
    for (std::size_t i = begin; i < end; i += 32) {
      const auto stored = blocks + i / layout.inputs * layout.bytes;
      const std::size_t run = i % layout.inputs / 32;
      const auto step =
          load_float16<Flushed>(stored) * load_bytes(stored + (layout.offsets + run * lanes), true);
      for (unsigned word = 0; word < 8; ++word) {
        const auto words = load_words(stored + (layout.quants + (8 * run + word) * 4 * lanes));
#pragma GCC unroll 4
        for (unsigned j = 0; j < 4; ++j)
          add(i + std::size_t{4} * word + j, step * signed_quants(words, j));
      }
    }
  }
};

/// The types with quants of four bits, 32 inputs at a time; Scales(stored blocks, run of 32 in
/// them) gives weights from quants, the smallest of which is Scales::least.
template <Packing Type, std::size_t Blocks, class Scales>
struct ReadFourBits {
  static constexpr Packing type = Type;
  BlocksInMemory<Blocks> blocks;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Type);
    for (std::size_t i = begin; i < end; i += 32) {
      const auto stored = blocks + i / layout.inputs * layout.bytes;
      const std::size_t run = i % layout.inputs / 32;
      const Scales scales(stored, run);
      for (unsigned word = 0; word < 4; ++word) {
        const auto words = load_words(stored + (layout.quants + (4 * run + word) * 4 * lanes));
#pragma GCC unroll 8
        for (unsigned j = 0; j < 8; ++j) {
          add(i + std::size_t{8} * word + j,
              scales.weight(quants_of_four<Scales::least>(words, j)));
        }
      }
    }
  }
};

/// Those with a fifth bit, which a word more of each output and run holds.
template <Packing Type, std::size_t Blocks, class Scales>
struct ReadFiveBits {
  static constexpr Packing type = Type;
  BlocksInMemory<Blocks> blocks;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Type);
    for (std::size_t i = begin; i < end; i += 32) {
      const auto stored = blocks + i / layout.inputs * layout.bytes;
      const std::size_t run = i % layout.inputs / 32;
      const Scales scales(stored, run);
      const auto high = load_words(stored + (layout.high_quants + run * 4 * lanes));
      for (unsigned word = 0; word < 4; ++word) {
        const auto low = load_words(stored + (layout.quants + (4 * run + word) * 4 * lanes));
#pragma GCC unroll 8
        for (unsigned j = 0; j < 8; ++j) {
          const auto quant = quants_above_four<1>(low, j, high, 8 * word + j);
          if constexpr (Scales::least == 0) {
            add(i + std::size_t{8} * word + j, scales.weight(quant));
          } else {
            constexpr auto least = static_cast<float>(Scales::least);
            add(i + std::size_t{8} * word + j,
                scales.weight(quant + broadcast<Blocks * lanes>(least)));
          }
        }
      }
    }
  }
};

/// No minimum: quants from Least on.
template <std::size_t Blocks, bool Flushed, int Least>
struct ScaleAlone {
  static constexpr int least = Least;
  using Lanes = FloatLanes<Blocks * lanes>;
  Lanes step;
  ScaleAlone(const BlocksInMemory<Blocks>& stored, std::size_t /*run*/)
      : step(load_float16<Flushed>(stored)) {}
  Lanes weight(const Lanes& quant) const { return step * quant; }
};

template <std::size_t Blocks, bool Flushed>
struct ScaleAndOffset {
  static constexpr int least = 0;
  using Lanes = FloatLanes<Blocks * lanes>;
  Lanes step;
  Lanes offset;
  ScaleAndOffset(const BlocksInMemory<Blocks>& stored, std::size_t /*run*/)
      : step(load_float16<Flushed>(stored)), offset(load_float16<Flushed>(stored + 2 * lanes)) {}
  Lanes weight(const Lanes& quant) const { return fused_multiply_add(step, quant, offset); }
};

/// Scales and minima of eight bits, of each run, that d and e are multiplied by.
template <Packing Type, std::size_t Blocks, bool Flushed>
struct ScaleAndMinimumOfRun {
  static constexpr int least = 0;
  using Lanes = FloatLanes<Blocks * lanes>;
  Lanes step;
  Lanes offset;
  ScaleAndMinimumOfRun(const BlocksInMemory<Blocks>& stored, std::size_t run) {
    const auto of_run = stored + (packed_layout(Type).offsets + run * 2 * lanes);
    step = load_float16<Flushed>(stored) * load_bytes(of_run, false);
    offset = load_float16<Flushed>(stored + 2 * lanes) * load_bytes(of_run + lanes, false) *
             broadcast<Blocks * lanes>(-1.0f);
  }
  Lanes weight(const Lanes& quant) const { return fused_multiply_add(step, quant, offset); }
};

template <std::size_t Blocks, bool Flushed>
struct ReadQ6_K {
  static constexpr Packing type = Packing::q6_k;
  BlocksInMemory<Blocks> blocks;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Packing::q6_k);
    for (std::size_t i = begin; i < end; i += 16) {
      const auto stored = blocks + i / layout.inputs * layout.bytes;
      const std::size_t run = i % layout.inputs / 16;
      const auto step =
          load_float16<Flushed>(stored) * load_bytes(stored + (layout.offsets + run * lanes), true);
      const auto high = load_words(stored + (layout.high_quants + run * 4 * lanes));
      for (unsigned word = 0; word < 2; ++word) {
        const auto low = load_words(stored + (layout.quants + (2 * run + word) * 4 * lanes));
#pragma GCC unroll 8
        for (unsigned j = 0; j < 8; ++j) {
          const auto quant = quants_above_four<2>(low, j, high, 8 * word + j);
          add(i + std::size_t{8} * word + j, step * (quant + broadcast<Blocks * lanes>(-32.0f)));
        }
      }
    }
  }
};

template <std::size_t Blocks, bool Flushed>
struct ReadQ2_K {
  static constexpr Packing type = Packing::q2_k;
  BlocksInMemory<Blocks> blocks;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Packing::q2_k);
    for (std::size_t i = begin; i < end; i += 16) {
      const auto stored = blocks + i / layout.inputs * layout.bytes;
      const std::size_t run = i % layout.inputs / 16;
      const ScaleAndMinimumOfRun<Packing::q2_k, Blocks, Flushed> scales(stored, run);
      const auto words = load_words(stored + (layout.quants + run * 4 * lanes));
#pragma GCC unroll 16
      for (unsigned j = 0; j < 16; ++j) add(i + j, scales.weight(quants<2>(words, j)));
    }
  }
};

/// Unquantised weights.
template <Packing Type, std::size_t Blocks, bool Flushed>
struct ReadFloats {
  static constexpr Packing type = Type;
  BlocksInMemory<Blocks> blocks;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    for (std::size_t i = begin; i < end; ++i) {
      const auto stored = blocks + i * packed_layout(Type).bytes;
      if constexpr (Type == Packing::float16) {
        add(i, load_float16<Flushed>(stored));
      } else if constexpr (Type == Packing::bfloat16) {
        add(i, load_floats<std::uint16_t>(stored));
      } else {
        add(i, load_floats<float>(stored));
      }
    }
  }
};

/// Where the weights of a block of outputs begin for an input at which a stored block begins.
template <class Stored>
inline const std::byte* stored_inputs(const StoredWeights<Stored>& weights, std::size_t output,
                                      std::size_t input) {
  return reinterpret_cast<const std::byte*>(weights.weights + output * weights.in + input * lanes);
}
inline const std::byte* stored_inputs(const QuantisedWeights& weights, std::size_t output,
                                      std::size_t input) {
  const std::uint64_t block = weights.blocks[output / lanes];
  const PackedLayout layout = packed_layout(packing_of(block));
  return weights.bytes + begin_of(block) + input / layout.inputs * layout.bytes;
}

/// The bytes of so many inputs there.
template <class Stored>
inline std::size_t bytes_of_inputs(const StoredWeights<Stored>& /*weights*/, std::size_t /*output*/,
                                   std::size_t inputs) {
  return inputs * lanes * sizeof(Stored);
}
inline std::size_t bytes_of_inputs(const QuantisedWeights& weights, std::size_t output,
                                   std::size_t inputs) {
  const PackedLayout layout = packed_layout(packing_of(weights.blocks[output / lanes]));
  return inputs / layout.inputs * layout.bytes;
}

/// Whether `Blocks` blocks of outputs, from `output` on, are stored in one type.
template <std::size_t Blocks, class Stored>
inline bool are_of_one_type(const StoredWeights<Stored>& /*weights*/, std::size_t /*output*/) {
  return true;
}
template <std::size_t Blocks>
inline bool are_of_one_type(const QuantisedWeights& weights, std::size_t output) {
  const std::uint64_t* const block = weights.blocks + output / lanes;
  for (std::size_t i = 1; i < Blocks; ++i) {
    if (packing_of(block[i]) != packing_of(block[0])) return false;
  }
  return true;
}

/// Calls run with the reader of `Blocks` blocks of outputs of one type, from `output` on.
template <std::size_t Blocks, bool Flushed = false, class Stored, class Run>
inline void with_block_reader(const StoredWeights<Stored>& weights, std::size_t output,
                              const Run& run) {
  constexpr Packing type = sizeof(Stored) == sizeof(float) ? Packing::float32 : Packing::bfloat16;
  BlocksInMemory<Blocks> blocks;
  for (std::size_t i = 0; i < Blocks; ++i) {
    blocks.of_block[i] =
        reinterpret_cast<const std::byte*>(weights.weights + (output + i * lanes) * weights.in);
  }
  run(ReadFloats<type, Blocks, Flushed>{blocks});
}
template <std::size_t Blocks, bool Flushed = false, class Run>
inline void with_block_reader(const QuantisedWeights& weights, std::size_t output, const Run& run) {
  const std::uint64_t* const block = weights.blocks + output / lanes;
  BlocksInMemory<Blocks> blocks;
  for (std::size_t i = 0; i < Blocks; ++i) {
    blocks.of_block[i] = weights.bytes + begin_of(block[i]);
  }
  switch (packing_of(block[0])) {
    case Packing::float32:
      return run(ReadFloats<Packing::float32, Blocks, Flushed>{blocks});
    case Packing::bfloat16:
      return run(ReadFloats<Packing::bfloat16, Blocks, Flushed>{blocks});
    case Packing::float16:
      return run(ReadFloats<Packing::float16, Blocks, Flushed>{blocks});
    case Packing::q8_0:
      return run(ReadQ8_0<Blocks, Flushed>{blocks});
    case Packing::q4_0:
      return run(ReadFourBits<Packing::q4_0, Blocks, ScaleAlone<Blocks, Flushed, -8>>{blocks});
    case Packing::q4_1:
      return run(ReadFourBits<Packing::q4_1, Blocks, ScaleAndOffset<Blocks, Flushed>>{blocks});
    case Packing::q4_k:
      return run(
          ReadFourBits<Packing::q4_k, Blocks, ScaleAndMinimumOfRun<Packing::q4_k, Blocks, Flushed>>{
              blocks});
    case Packing::q6_k:
      return run(ReadQ6_K<Blocks, Flushed>{blocks});
    case Packing::q5_0:
      return run(ReadFiveBits<Packing::q5_0, Blocks, ScaleAlone<Blocks, Flushed, -16>>{blocks});
    case Packing::q5_1:
      return run(ReadFiveBits<Packing::q5_1, Blocks, ScaleAndOffset<Blocks, Flushed>>{blocks});
    case Packing::q5_k:
      return run(
          ReadFiveBits<Packing::q5_k, Blocks, ScaleAndMinimumOfRun<Packing::q5_k, Blocks, Flushed>>{
              blocks});
    case Packing::q2_k:
      return run(ReadQ2_K<Blocks, Flushed>{blocks});
    case Packing::q8_scaled:
      return run(ReadQ8Scaled<Blocks, Flushed>{blocks});
  }
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
