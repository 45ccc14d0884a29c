#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"
#include "gpu/llm/transformer/weights/packed_weights_file.hpp"
#include "gpu/llm/transformer/weights/quantised_packing.hpp"

namespace tempera::gpu {
namespace {

/// Bytes whose every number is finite, because no exponent's first two bits are both set.
std::vector<std::byte> given_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56 & 0x3FU);
  }
  return bytes;
}

}  // namespace

std::string packing_digest(Arithmetic arithmetic) {
  // Whole blocks of every dtype, more than one segment, and an output that is not the last of a
  // block.
  constexpr std::size_t inputs = 768;
  constexpr std::size_t outputs = 19;
  std::string text;
  for (const char* dtype : {"F32", "BF16", "F16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K", "Q5_0",
                            "Q5_1", "Q5_K", "Q2_K", "Q3_K", "IQ4_NL", "IQ4_XS", "MXFP4"}) {
    const auto block = *stored_block(dtype);
    const auto bytes = given_bytes(outputs * inputs / block.elements * block.bytes);
    const StoredTensor tensor{"given", dtype, {outputs, inputs}, bytes, "given"};
    const StoredTensor* const pointer = &tensor;
    const PackedMatrix packed = pack_matrices({&pointer, 1}, arithmetic);
    text += dtype;
    std::visit(
        [&]<class Held>(const Held& held) {
          if constexpr (!std::is_same_v<Held, MappedMatrix>) {
            const auto host = held.download(0, held.size());
            text += sha256(std::as_bytes(std::span(host)));
          }
        },
        packed.weights);
    for (const std::uint64_t entry : packed.blocks.download(0, packed.blocks.size()))
      text += ' ' + std::to_string(entry);
    text += '\n';
  }
  return sha256(text);
}

}  // namespace tempera::gpu
