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
  Packing packing;
  const std::byte* stored;
  std::byte* block;
  std::size_t lane;
  PackedLayout layout = packed_layout(packing);

  void pack() const {
    switch (packing) {
      case Packing::float32:
        return copy(0, 0, 4);
      case Packing::bfloat16:
      case Packing::float16:
        return copy(0, 0, 2);
      case Packing::q8_0:
        return pack_q8_0();
      case Packing::q4_0:
        copy(0, 0, 2);
        return pack_quants_of_32(stored + 2);
      case Packing::q4_1:
        copy(0, 0, 2);
        copy(2, layout.offsets, 2);
        return pack_quants_of_32(stored + 4);
      case Packing::q4_k:
        return pack_q4_k();
      case Packing::q6_k:
        return pack_q6_k();
    }
  }

 private:
  /// A number of `size` bytes, into an array of one for each lane.
  void copy(std::size_t from, std::size_t to, std::size_t size) const {
    std::memcpy(block + to + lane * size, stored + from, size);
  }
  void pack_q8_0() const {
    copy(0, 0, 2);
    const QuantWriter quants(block + layout.quants, lane, 8);
    for (std::size_t i = 0; i < 32; ++i) {
      quants.put(i, std::to_integer<std::uint32_t>(stored[2 + i]));
    }
  }
  void pack_quants_of_32(const std::byte* bytes) const {
    const QuantWriter quants(block + layout.quants, lane, 4);
    for (std::size_t i = 0; i < 16; ++i) {
      quants.put(i, low_four(bytes[i]));
      quants.put(16 + i, high_four(bytes[i]));
    }
  }
  void pack_q4_k() const {
    copy(0, 0, 2);
    copy(2, 2 * lanes, 2);
    const std::byte* const s = stored + 4;
    const QuantWriter quants(block + layout.quants, lane, 4);
    for (std::size_t run = 0; run < 8; ++run) {
      const auto [scale, minimum] = q4_k_scale(s, run);
      std::byte* const of_run = block + layout.offsets + run * 2 * lanes;
      of_run[lane] = static_cast<std::byte>(scale);
      of_run[lanes + lane] = static_cast<std::byte>(minimum);
      const std::byte* const q = stored + 16 + 32 * (run / 2);
      for (std::size_t i = 0; i < 32; ++i) {
        quants.put(32 * run + i, run % 2 == 0 ? low_four(q[i]) : high_four(q[i]));
      }
    }
  }
  void pack_q6_k() const {
    copy(208, 0, 2);
    for (std::size_t run = 0; run < 16; ++run) {
      block[layout.offsets + run * lanes + lane] = stored[192 + run];
    }
    const QuantWriter low(block + layout.quants, lane, 4);
    const QuantWriter high(block + layout.high_quants, lane, 2);
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t quant = q6_k_quant(stored, i);
      low.put(i, quant & 15U);
      high.put(i, quant >> 4);
    }
  }
};

bool is_finite_float16(const std::byte* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return (~bits & 0x7C00) != 0;
}

/// Whether the weights of a stored block are finite, which they are if its scales are: no scale
/// exceeds 2^16, and no product of one with the whole numbers beside it 2^30.
bool is_finite(Packing packing, const std::byte* stored) {
  std::uint32_t bits = 0;
  switch (packing) {
    case Packing::float32:
      std::memcpy(&bits, stored, 4);
      return (~bits & 0x7F800000U) != 0;
    case Packing::bfloat16:
      std::memcpy(&bits, stored, 2);
      return (~bits & 0x7F80U) != 0;
    case Packing::q4_1:
    case Packing::q4_k:
      return is_finite_float16(stored) && is_finite_float16(stored + 2);
    case Packing::q6_k:
      return is_finite_float16(stored + 208);
    default:
      return is_finite_float16(stored);
  }
}

constexpr std::array<std::string_view, 8> dtypes{"F32",  "BF16", "F16",  "Q8_0",
                                                 "Q4_0", "Q4_1", "Q4_K", "Q6_K"};

}  // namespace

std::optional<Packing> packing_of_dtype(std::string_view dtype) {
  const auto* found = std::find(dtypes.begin(), dtypes.end(), dtype);
  if (found == dtypes.end()) return std::nullopt;
  return static_cast<Packing>(found - dtypes.begin());
}

std::optional<std::size_t> pack_block(Packing packing, std::span<const std::byte> outputs,
                                      std::size_t in, std::span<std::byte> block) {
  const auto layout = packed_layout(packing);
  const auto stored = *stored_block(dtypes[static_cast<std::size_t>(packing)]);
  const std::size_t blocks_of_output = in / layout.inputs;
  const std::size_t count = outputs.size() / stored.bytes / blocks_of_output;
  for (std::size_t lane = 0; lane < count; ++lane) {
    for (std::size_t b = 0; b < blocks_of_output; ++b) {
      const std::size_t index = lane * blocks_of_output + b;
      const std::byte* const bytes = &outputs[index * stored.bytes];
      if (!is_finite(packing, bytes)) return index * stored.elements;
      OneOutput{packing, bytes, &block[b * layout.bytes], lane}.pack();
    }
  }
  return std::nullopt;
}

}  // namespace tempera::gpu
