#include "gpu/llm/transformer/weights/dequantise.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/llm/transformer/weights/gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::dequantise_test {

namespace {

const std::filesystem::path fixtures =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/gguf";

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

std::vector<float> values_of(const StoredTensor& tensor) {
  const auto block = stored_block(tensor.dtype).value();
  std::vector<float> values(tensor.bytes.size() / block.bytes * block.elements);
  dequantise(tensor.dtype, tensor.bytes, values);
  return values;
}

/// The values that PyPI's gguf gives, by tensor, in order of their names.
std::vector<std::vector<float>> golden() {
  const auto bytes = read_bytes(fixtures / "values.bin");
  const std::size_t size = 3UL * 512 * sizeof(float);
  std::vector<std::vector<float>> tensors(bytes.size() / size, std::vector<float>(3UL * 512));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    std::memcpy(tensors[i].data(), bytes.data() + i * size, size);
  return tensors;
}

/// Whether the golden values see that a type's blocks are read as another's of the same size, or
/// with one byte changed.
bool sees(const StoredTensor& tensor, std::size_t byte, const std::vector<float>& expected) {
  std::vector<std::byte> bytes(tensor.bytes.begin(), tensor.bytes.end());
  bytes[byte] ^= std::byte{0x11};
  StoredTensor changed = tensor;
  changed.bytes = bytes;
  return bits_of(values_of(changed)) != bits_of(expected);
}

}  // namespace

TEST_CASE("every type's values are those of gguf.quants, bit for bit", "[gguf]") {
  const GgufFile file(fixtures / "every_type.gguf");
  const auto expected = golden();
  REQUIRE(file.tensors().size() == expected.size());
  REQUIRE(expected.size() == 16);
  std::size_t i = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    INFO(name);
    CHECK(tensor.dtype == name);
    CHECK(tensor.shape == std::vector<std::uint64_t>{3, 512});
    CHECK(bits_of(values_of(tensor)) == bits_of(expected[i++]));
  }
}

TEST_CASE("every byte of a block has a say in its values", "[gguf]") {
  const GgufFile file(fixtures / "every_type.gguf");
  const auto expected = golden();
  std::size_t i = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    const auto& values = expected[i++];
    const auto block = stored_block(name)->bytes;
    // The last block: of random bits in every quantised type. A scale or a quant that meets a zero
    // would change nothing, so a few bytes may.
    std::size_t unseen = 0;
    for (std::size_t byte = tensor.bytes.size() - block; byte < tensor.bytes.size(); ++byte)
      unseen += sees(tensor, byte, values) ? 0 : 1;
    INFO(name);
    CHECK(unseen == 0);
  }
}

TEST_CASE("a float16 is the number that its bits say", "[gguf]") {
  CHECK(float16_value(0x0000) == 0.0F);
  CHECK(std::signbit(float16_value(0x8000)));
  CHECK(float16_value(0x0001) == 0x1p-24F);
  CHECK(float16_value(0x03FF) == 0x3FFp-24F);
  CHECK(float16_value(0x0400) == 0x1p-14F);
  CHECK(float16_value(0x3C00) == 1.0F);
  CHECK(float16_value(0xC500) == -5.0F);
  CHECK(float16_value(0x7BFF) == 65504.0F);
  CHECK(std::isinf(float16_value(0x7C00)));
  CHECK(std::isnan(float16_value(0x7C01)));
  // All finite ones grow with their bits, by the spacing of their binade.
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const int binade = std::max(bits >> 10, 1);
    REQUIRE(float16_value(static_cast<std::uint16_t>(bits + 1)) - float16_value(bits) ==
            std::ldexp(1.0F, binade - 25));
  }
}

TEST_CASE("a scale that is not a number gives values that are none", "[gguf]") {
  for (const auto& [dtype, offset] :
       std::vector<std::pair<std::string, std::size_t>>{{"Q8_0", 0},
                                                        {"Q4_0", 0},
                                                        {"Q4_1", 0},
                                                        {"Q4_1", 2},
                                                        {"Q4_K", 0},
                                                        {"Q4_K", 2},
                                                        {"Q6_K", 208},
                                                        {"Q5_0", 0},
                                                        {"Q5_1", 0},
                                                        {"Q5_1", 2},
                                                        {"Q5_K", 0},
                                                        {"Q5_K", 2},
                                                        {"Q2_K", 80},
                                                        {"Q2_K", 82},
                                                        {"Q3_K", 108},
                                                        {"IQ4_NL", 0},
                                                        {"IQ4_XS", 0}}) {
    const auto block = stored_block(dtype).value();
    std::vector<std::byte> bytes(block.bytes, std::byte{0x11});
    bytes[offset] = std::byte{0x01};
    bytes[offset + 1] = std::byte{0x7C};
    std::vector<float> values(block.elements);
    dequantise(dtype, bytes, values);
    INFO(dtype << " at " << offset);
    CHECK(std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); }));
  }
  CHECK(stored_block("Q8_K") == std::nullopt);
}

}  // namespace tempera::gpu::dequantise_test
