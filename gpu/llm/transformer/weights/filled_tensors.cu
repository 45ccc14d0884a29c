
#include "base/error.hpp"
#include "gpu/device/launch.cuh"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/weights/filled_tensors.hpp"
#include "gpu/llm/transformer/weights/scramble.hpp"
#include "gpu/llm/transformer/weights/whole_words.hpp"

namespace tempera::gpu {

namespace {

/// Two bfloat16s of one exponent, their signs and fractions drawn by their place.
struct FillPair {
  std::uint32_t* pairs;
  std::uint64_t key;
  std::uint32_t exponent;
  TEMPERA_HOST_DEVICE void operator()(std::size_t i) const {
    const auto drawn = static_cast<std::uint32_t>(scramble(key + i));
    constexpr std::uint32_t signs_and_fractions = 0x807F807FU;
    pairs[i] = (drawn & signs_and_fractions) | exponent << 7 | exponent << 23;
  }
};

/// Words of whole numbers in [-1024, 1024), whose sums are of 32 bits, after the steps of their
/// block.
struct FillWhole {
  std::uint32_t* words;
  std::uint64_t key;
  std::uint32_t exponent;
  std::size_t block_words;
  std::size_t steps;  // of a block
  TEMPERA_HOST_DEVICE void operator()(std::size_t i) const {
    if (i % block_words < steps) {
      words[i] = (exponent - 9) << 23;
      return;
    }
    const auto drawn = static_cast<std::uint32_t>(scramble(key + i));
    const std::uint32_t low = ((drawn & 0x7FFU) - 1024U) & 0xFFFFU;
    words[i] = low | ((drawn >> 16 & 0x7FFU) - 1024U) << 16;
  }
};

/// The exponent of the largest power of two that is at most 1 / sqrt(inputs).
std::uint32_t exponent_for(std::size_t inputs) {
  std::uint32_t exponent = 127;
  for (std::size_t covered = 1; covered < inputs; covered *= 4) --exponent;
  return exponent;
}

}  // namespace

PackedMatrix FilledTensors::pack(const std::vector<Part>& parts, std::size_t in,
                                 Arithmetic arithmetic) {
  if (in % step_products != 0) throw Bug("filled weights need whole steps");
  PackedMatrix matrix;
  matrix.in = in;
  for (const Part& part : parts) matrix.out += padded(part.out);
  const std::size_t pairs = matrix.out * in / 2;
  FillPair fill{nullptr, key_ = scramble(key_), exponent_for(in)};
  // Fragments and pairs hold as many weights as rows do, in another order.
  if (!takes_tensor_core_steps(arithmetic) && arithmetic != Arithmetic::float32 && in % 32 != 0) {
    throw Bug("filled pairs of weights need whole segments");
  }
  matrix.arithmetic = packs_as(arithmetic);
  if (arithmetic == Arithmetic::integer) {
    const std::size_t of_block = whole_block_words(in);
    DeviceMemory<std::uint32_t> words(matrix.out / lanes * of_block);
    launch(words.size(),
           FillWhole{words.data(), key_, exponent_for(in), of_block, whole_segments(in) * lanes});
    matrix.weights = std::move(words);
  } else if (rounds_to_bfloat16(arithmetic)) {
    DeviceMemory<std::uint32_t> words(pairs);
    fill.pairs = words.data();
    launch(pairs, fill);
    matrix.weights = std::move(words);
  } else {
    DeviceMemory<std::uint16_t> rows(2 * pairs);
    fill.pairs = reinterpret_cast<std::uint32_t*>(rows.data());
    launch(pairs, fill);
    matrix.weights = std::move(rows);
  }
  return matrix;
}

}  // namespace tempera::gpu
