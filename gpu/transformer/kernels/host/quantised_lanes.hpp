#pragma once

#include "gpu/transformer/kernels/host/float_lanes.hpp"
#include "gpu/transformer/weights/quantised_block.hpp"

// The weights of 16 outputs for one input after another, from a block of quantised weights: what
// weight_of_block gives for each, in the same operations.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

typedef std::int32_t IntegerRegister __attribute__((vector_size(4 * register_lanes)));
typedef std::uint8_t ByteRegister __attribute__((vector_size(register_lanes)));
typedef BitsRegister WordsInMemory __attribute__((aligned(4), may_alias));
typedef ByteRegister BytesInMemory __attribute__((aligned(1), may_alias));

using BlockLanes = FloatLanes<lanes>;
constexpr std::size_t block_registers = BlockLanes::registers;

/// A word of 32 bits of each output.
struct WordLanes {
  BitsRegister parts[block_registers];
};

inline WordLanes load_words(const std::byte* memory) {
  WordLanes result;
  for (std::size_t i = 0; i < block_registers; ++i) {
    result.parts[i] = *reinterpret_cast<const WordsInMemory*>(memory + 4 * i * register_lanes);
  }
  return result;
}

/// Whole numbers as floats; exact below 2^24.
inline FloatRegister to_floats(IntegerRegister numbers) {
  return __builtin_convertvector(numbers, FloatRegister);
}

/// Quant `index` of `Bits` bits of each word.
template <unsigned Bits>
inline BlockLanes quants(const WordLanes& words, unsigned index) {
  BlockLanes result;
  for (std::size_t i = 0; i < block_registers; ++i) {
    result.parts[i] = to_floats(
        reinterpret_cast<IntegerRegister>(words.parts[i] >> (Bits * index) & ((1U << Bits) - 1U)));
  }
  return result;
}

/// As above, of eight bits with a sign.
inline BlockLanes signed_quants(const WordLanes& words, unsigned index) {
  BlockLanes result;
  for (std::size_t i = 0; i < block_registers; ++i) {
    const auto moved = reinterpret_cast<IntegerRegister>(words.parts[i] << (24 - 8 * index));
    result.parts[i] = to_floats(moved >> 24);
  }
  return result;
}

/// The quants of Q6_K: four bits, and two above them.
inline BlockLanes quants_of_six(const WordLanes& low, unsigned low_index, const WordLanes& high,
                                unsigned high_index) {
  BlockLanes result;
  for (std::size_t i = 0; i < block_registers; ++i) {
    result.parts[i] = to_floats(reinterpret_cast<IntegerRegister>(
        (low.parts[i] >> (4 * low_index) & 15U) | (high.parts[i] >> (2 * high_index) & 3U) << 4));
  }
  return result;
}

inline BlockLanes load_float16(const std::byte* memory) {
  BlockLanes result;
  for (std::size_t i = 0; i < block_registers; ++i) {
    const HalfRegister halves =
        *reinterpret_cast<const HalvesInMemory*>(memory + 2 * i * register_lanes);
    const BitsRegister bits = __builtin_convertvector(halves, BitsRegister);
    const FloatRegister magnitude =
        reinterpret_cast<FloatRegister>((bits & 0x7FFFU) << 13) * broadcast_register(0x1p112f);
    result.parts[i] = reinterpret_cast<FloatRegister>(reinterpret_cast<BitsRegister>(magnitude) |
                                                      (bits & 0x8000U) << 16);
  }
  return result;
}

/// Bytes as whole numbers, without or with a sign.
inline BlockLanes load_bytes(const std::byte* memory, bool has_sign) {
  BlockLanes result;
  for (std::size_t i = 0; i < block_registers; ++i) {
    const ByteRegister bytes = *reinterpret_cast<const BytesInMemory*>(memory + i * register_lanes);
    auto numbers = __builtin_convertvector(bytes, IntegerRegister);
    if (has_sign) numbers = numbers << 24 >> 24;
    result.parts[i] = to_floats(numbers);
  }
  return result;
}

/// The readers of a type call add(i, weights of input i) for the inputs begin .. end - 1, which are
/// whole runs of 32.

struct ReadQ8_0 {
  const std::byte* block;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Packing::q8_0);
    for (std::size_t i = begin; i < end; i += 32) {
      const std::byte* const stored = block + i / 32 * layout.bytes;
      const BlockLanes step = load_float16(stored);
      for (unsigned word = 0; word < 8; ++word) {
        const WordLanes words = load_words(stored + layout.quants + word * 4 * lanes);
#pragma GCC unroll 4
        for (unsigned j = 0; j < 4; ++j) add(i + 4 * word + j, step * signed_quants(words, j));
      }
    }
  }
};

/// The types with quants of four bits, 32 inputs at a time; Scales(stored block, run of 32 in it)
/// gives weights from quants.
template <Packing Type, class Scales>
struct ReadFourBits {
  const std::byte* block;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Type);
    for (std::size_t i = begin; i < end; i += 32) {
      const std::byte* const stored = block + i / layout.inputs * layout.bytes;
      const std::size_t run = i % layout.inputs / 32;
      const Scales scales(stored, run);
      for (unsigned word = 0; word < 4; ++word) {
        const WordLanes words = load_words(stored + layout.quants + (4 * run + word) * 4 * lanes);
#pragma GCC unroll 8
        for (unsigned j = 0; j < 8; ++j) {
          add(i + 8 * word + j, scales.weight(quants<4>(words, j)));
        }
      }
    }
  }
};

struct ScalesQ4_0 {
  BlockLanes step;
  ScalesQ4_0(const std::byte* stored, std::size_t /*run*/) : step(load_float16(stored)) {}
  BlockLanes weight(const BlockLanes& quant) const {
    return step * (quant + broadcast<lanes>(-8.0f));
  }
};

struct ScalesQ4_1 {
  BlockLanes step;
  BlockLanes offset;
  ScalesQ4_1(const std::byte* stored, std::size_t /*run*/)
      : step(load_float16(stored)), offset(load_float16(stored + 2 * lanes)) {}
  BlockLanes weight(const BlockLanes& quant) const {
    return fused_multiply_add(step, quant, offset);
  }
};

struct ScalesQ4_K {
  BlockLanes step;
  BlockLanes offset;
  ScalesQ4_K(const std::byte* stored, std::size_t run) {
    const std::byte* const of_run = stored + packed_layout(Packing::q4_k).offsets + run * 2 * lanes;
    step = load_float16(stored) * load_bytes(of_run, false);
    offset = load_float16(stored + 2 * lanes) * load_bytes(of_run + lanes, false) *
             broadcast<lanes>(-1.0f);
  }
  BlockLanes weight(const BlockLanes& quant) const {
    return fused_multiply_add(step, quant, offset);
  }
};

struct ReadQ6_K {
  const std::byte* block;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    constexpr PackedLayout layout = packed_layout(Packing::q6_k);
    for (std::size_t i = begin; i < end; i += 16) {
      const std::byte* const stored = block + i / layout.inputs * layout.bytes;
      const std::size_t run = i % layout.inputs / 16;
      const BlockLanes step =
          load_float16(stored) * load_bytes(stored + layout.offsets + run * lanes, true);
      const WordLanes high = load_words(stored + layout.high_quants + run * 4 * lanes);
      for (unsigned word = 0; word < 2; ++word) {
        const WordLanes low = load_words(stored + layout.quants + (2 * run + word) * 4 * lanes);
#pragma GCC unroll 8
        for (unsigned j = 0; j < 8; ++j) {
          const BlockLanes quant = quants_of_six(low, j, high, 8 * word + j);
          add(i + 8 * word + j, step * (quant + broadcast<lanes>(-32.0f)));
        }
      }
    }
  }
};

/// Unquantised weights beside quantised ones.
template <Packing Type>
struct ReadFloats {
  const std::byte* block;
  template <class Add>
  void operator()(std::size_t begin, std::size_t end, const Add& add) const {
    for (std::size_t i = begin; i < end; ++i) {
      const std::byte* const stored = block + i * packed_layout(Type).bytes;
      if constexpr (Type == Packing::float16) {
        add(i, load_float16(stored));
      } else if constexpr (Type == Packing::bfloat16) {
        add(i, load<lanes>(reinterpret_cast<const std::uint16_t*>(stored)));
      } else {
        add(i, load<lanes>(reinterpret_cast<const float*>(stored)));
      }
    }
  }
};

/// Calls run with the reader of a block.
template <class Run>
inline void with_block_reader(Packing packing, const std::byte* block, const Run& run) {
  switch (packing) {
    case Packing::float32:
      return run(ReadFloats<Packing::float32>{block});
    case Packing::bfloat16:
      return run(ReadFloats<Packing::bfloat16>{block});
    case Packing::float16:
      return run(ReadFloats<Packing::float16>{block});
    case Packing::q8_0:
      return run(ReadQ8_0{block});
    case Packing::q4_0:
      return run(ReadFourBits<Packing::q4_0, ScalesQ4_0>{block});
    case Packing::q4_1:
      return run(ReadFourBits<Packing::q4_1, ScalesQ4_1>{block});
    case Packing::q4_k:
      return run(ReadFourBits<Packing::q4_k, ScalesQ4_K>{block});
    case Packing::q6_k:
      return run(ReadQ6_K{block});
  }
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
