#include "gpu/llm/transformer/weights/quantised_packing.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "gpu/llm/transformer/weights/dequantise.hpp"

namespace tempera::gpu {

namespace {

/// Writes quants of one output into the words of a block.
class QuantWriter {
 public:
  QuantWriter(std::byte* words, std::size_t lane, unsigned bits)
      : words_(words), lane_(lane), bits_(bits) {}
  void put(std::size_t i, std::uint32_t quant) const {
    const std::size_t in_word = 32 / bits_;
    std::byte* const target = words_ + 4 * (i / in_word * lanes + lane_);
    std::uint32_t word = 0;
    std::memcpy(&word, target, sizeof word);
    word |= quant << (bits_ * (i % in_word));
    std::memcpy(target, &word, sizeof word);
  }

 private:
  std::byte* words_;
  std::size_t lane_;
  unsigned bits_;
};

/// A stored block of one output, into that of all lanes. What the bytes mean is in
/// dequantise.cpp.
struct OneOutput {
  const std::byte* stored;
  std::byte* block;
  std::size_t lane;
  PackedLayout layout;

  /// A number of `size` bytes, into an array of one for each lane.
  void copy(std::size_t from, std::size_t to, std::size_t size) const {
    std::memcpy(block + to + lane * size, stored + from, size);
  }
  /// A number of one byte, into the array `index` of those from `to` on.
  void put_byte(std::size_t to, std::size_t index, int number) const {
    block[to + index * lanes + lane] = static_cast<std::byte>(number);
  }
  QuantWriter quants(unsigned bits) const { return {block + layout.quants, lane, bits}; }
  QuantWriter high_quants(unsigned bits) const { return {block + layout.high_quants, lane, bits}; }
  /// Scales and minima as Q4_K has them.
  void put_scales(const std::byte* s) const {
    for (std::size_t run = 0; run < 8; ++run) {
      const auto [scale, minimum] = q4_k_scale(s, run);
      put_byte(layout.offsets, 2 * run, scale);
      put_byte(layout.offsets, 2 * run + 1, minimum);
    }
  }
};

void pack_number_of_four(const OneOutput& output) { output.copy(0, 0, 4); }
void pack_number_of_two(const OneOutput& output) { output.copy(0, 0, 2); }

/// 32 quants of four bits, as Q4_0 has them.
void pack_quants_of_32(const OneOutput& output, const std::byte* bytes) {
  const auto quants = output.quants(4);
  for (std::size_t i = 0; i < 16; ++i) {
    quants.put(i, low_four(bytes[i]));
    quants.put(16 + i, high_four(bytes[i]));
  }
}
void copy_scale_and_offset(const OneOutput& output) {
  output.copy(0, 0, 2);
  output.copy(2, output.layout.offsets, 2);
}
void pack_q8_0(const OneOutput& output) {
  output.copy(0, 0, 2);
  const auto quants = output.quants(8);
  for (std::size_t i = 0; i < 32; ++i)
    quants.put(i, std::to_integer<std::uint32_t>(output.stored[2 + i]));
}
void pack_q4_0(const OneOutput& output) {
  output.copy(0, 0, 2);
  pack_quants_of_32(output, output.stored + 2);
}
void pack_q4_1(const OneOutput& output) {
  copy_scale_and_offset(output);
  pack_quants_of_32(output, output.stored + 4);
}
void pack_q5_0(const OneOutput& output) {
  output.copy(0, 0, 2);
  output.copy(2, output.layout.high_quants, 4);
  pack_quants_of_32(output, output.stored + 6);
}
void pack_q5_1(const OneOutput& output) {
  copy_scale_and_offset(output);
  output.copy(4, output.layout.high_quants, 4);
  pack_quants_of_32(output, output.stored + 8);
}
void pack_q4_k(const OneOutput& output) {
  output.copy(0, 0, 2);
  output.copy(2, 2 * lanes, 2);
  output.put_scales(output.stored + 4);
  const auto quants = output.quants(4);
  for (std::size_t run = 0; run < 8; ++run) {
    const std::byte* const q = output.stored + 16 + 32 * (run / 2);
    for (std::size_t i = 0; i < 32; ++i)
      quants.put(32 * run + i, run % 2 == 0 ? low_four(q[i]) : high_four(q[i]));
  }
}
/// Quants quant_of(i) of more than four bits: four together, and so many above them.
template <class QuantOf>
void pack_quants_above_four(const OneOutput& output, unsigned high_bits, const QuantOf& quant_of) {
  const auto low = output.quants(4);
  const auto high = output.high_quants(high_bits);
  for (std::size_t i = 0; i < 256; ++i) {
    const std::uint32_t quant = quant_of(i);
    low.put(i, quant & 15U);
    high.put(i, quant >> 4);
  }
}
void pack_q5_k(const OneOutput& output) {
  output.copy(0, 0, 2);
  output.copy(2, 2 * lanes, 2);
  output.put_scales(output.stored + 4);
  pack_quants_above_four(output, 1, [&](std::size_t i) { return q5_k_quant(output.stored, i); });
}
void pack_q2_k(const OneOutput& output) {
  output.copy(80, 0, 2);
  output.copy(82, 2 * lanes, 2);
  for (std::size_t run = 0; run < 16; ++run) {
    output.put_byte(output.layout.offsets, 2 * run, low_four(output.stored[run]));
    output.put_byte(output.layout.offsets, 2 * run + 1, high_four(output.stored[run]));
  }
  const auto quants = output.quants(2);
  for (std::size_t i = 0; i < 256; ++i) quants.put(i, q2_k_quant(output.stored, i));
}
void pack_q6_k(const OneOutput& output) {
  output.copy(208, 0, 2);
  for (std::size_t run = 0; run < 16; ++run) {
    output.put_byte(output.layout.offsets, run, std::to_integer<int>(output.stored[192 + run]));
  }
  pack_quants_above_four(output, 2, [&](std::size_t i) { return q6_k_quant(output.stored, i); });
}
void pack_q3_k(const OneOutput& output) {
  output.copy(108, 0, 2);
  for (std::size_t run = 0; run < 16; ++run)
    output.put_byte(output.layout.offsets, run, q3_k_scale(output.stored, run));
  pack_quants_above_four(output, 2, [&](std::size_t i) {
    return static_cast<std::uint32_t>(q3_k_quant(output.stored, i) + 32);
  });
}
/// The whole numbers of 32 quants as Q4_0 has them, as quants of eight bits from `first` on.
void pack_iq4_values(const OneOutput& output, const std::byte* bytes, std::size_t first) {
  const auto quants = output.quants(8);
  const auto put = [&](std::size_t i, int quant) {
    quants.put(first + i, static_cast<std::uint8_t>(iq4_value(quant)));
  };
  for (std::size_t i = 0; i < 16; ++i) {
    put(i, low_four(bytes[i]));
    put(16 + i, high_four(bytes[i]));
  }
}
void pack_iq4_nl(const OneOutput& output) {
  output.copy(0, 0, 2);
  pack_iq4_values(output, output.stored + 2, 0);
}
void pack_iq4_xs(const OneOutput& output) {
  output.copy(0, 0, 2);
  for (std::size_t run = 0; run < 8; ++run) {
    output.put_byte(output.layout.offsets, run, iq4_xs_scale(output.stored, run));
    pack_iq4_values(output, output.stored + 8 + 16 * run, 32 * run);
  }
}

bool is_finite_float16(const std::byte* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return (~bits & 0x7C00) != 0;
}

/// How the blocks of a dtype are packed, and where their float16 scales are.
struct PackedDtype {
  std::string_view dtype;
  Packing packing;
  void (*pack)(const OneOutput& output);  // none: dequantised
  std::array<std::uint8_t, 2> scales;     // the same twice: one
};

constexpr std::array<PackedDtype, 16> dtypes{{{"F32", Packing::float32, pack_number_of_four, {}},
                                              {"BF16", Packing::bfloat16, pack_number_of_two, {}},
                                              {"F16", Packing::float16, pack_number_of_two, {0, 0}},
                                              {"Q8_0", Packing::q8_0, pack_q8_0, {0, 0}},
                                              {"Q4_0", Packing::q4_0, pack_q4_0, {0, 0}},
                                              {"Q4_1", Packing::q4_1, pack_q4_1, {0, 2}},
                                              {"Q4_K", Packing::q4_k, pack_q4_k, {0, 2}},
                                              {"Q6_K", Packing::q6_k, pack_q6_k, {208, 208}},
                                              {"Q5_0", Packing::q5_0, pack_q5_0, {0, 0}},
                                              {"Q5_1", Packing::q5_1, pack_q5_1, {0, 2}},
                                              {"Q5_K", Packing::q5_k, pack_q5_k, {0, 2}},
                                              {"Q2_K", Packing::q2_k, pack_q2_k, {80, 82}},
                                              {"Q3_K", Packing::q6_k, pack_q3_k, {108, 108}},
                                              {"IQ4_NL", Packing::q8_0, pack_iq4_nl, {0, 0}},
                                              {"IQ4_XS", Packing::q8_scaled, pack_iq4_xs, {0, 0}},
                                              {"MXFP4", Packing::bfloat16, nullptr, {}}}};

const PackedDtype* find_dtype(std::string_view dtype) {
  const auto* found = std::find_if(dtypes.begin(), dtypes.end(),
                                   [&](const PackedDtype& each) { return each.dtype == dtype; });
  return found == dtypes.end() ? nullptr : found;
}

/// Whether the weights of a stored block are finite, which they are if its scales are: no scale
/// exceeds 2^16, and no product of one with the whole numbers beside it 2^30.
bool is_finite(const PackedDtype& dtype, const std::byte* stored) {
  std::uint32_t bits = 0;
  switch (dtype.packing) {
    case Packing::float32:
      std::memcpy(&bits, stored, 4);
      return (~bits & 0x7F800000U) != 0;
    case Packing::bfloat16:
      std::memcpy(&bits, stored, 2);
      return (~bits & 0x7F80U) != 0;
    default:
      return is_finite_float16(stored + dtype.scales[0]) &&
             is_finite_float16(stored + dtype.scales[1]);
  }
}

}  // namespace

std::optional<Packing> packing_of_dtype(std::string_view dtype) {
  const auto* found = find_dtype(dtype);
  return found == nullptr ? std::nullopt : std::optional(found->packing);
}

bool is_packed_by_blocks(std::string_view dtype) {
  const auto* found = find_dtype(dtype);
  return found != nullptr && found->pack != nullptr;
}

std::optional<std::size_t> pack_block(std::string_view dtype, std::span<const std::byte> outputs,
                                      std::size_t in, std::span<std::byte> block) {
  const auto& packed = *find_dtype(dtype);
  const auto layout = packed_layout(packed.packing);
  const auto stored = *stored_block(dtype);
  const std::size_t blocks_of_output = in / layout.inputs;
  const std::size_t count = outputs.size() / stored.bytes / blocks_of_output;
  for (std::size_t lane = 0; lane < count; ++lane) {
    for (std::size_t b = 0; b < blocks_of_output; ++b) {
      const std::size_t index = lane * blocks_of_output + b;
      const std::byte* const bytes = &outputs[index * stored.bytes];
      if (!is_finite(packed, bytes)) return index * stored.elements;
      packed.pack({bytes, &block[b * layout.bytes], lane, layout});
    }
  }
  return std::nullopt;
}

}  // namespace tempera::gpu
