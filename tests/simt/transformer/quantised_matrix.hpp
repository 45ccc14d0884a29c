#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"
#include "tests/simt/transformer/contract.hpp"

namespace tempera::tests {

/// Stacked matrices of several dtypes, as a product of `tensor-core` takes them, and what every
/// weight is by the contract: what it dequantises to, rounded to bfloat16.
struct QuantisedMatrix {
  struct Part {
    std::string dtype;
    std::size_t out;
  };

  std::size_t in;
  std::size_t out = 0;  // with the padding
  gpu::PackedMatrix packed;
  Bfloat16s weights;                   // [out, in]
  std::vector<std::uint32_t> outputs;  // those that are no padding

  QuantisedMatrix(std::size_t inputs, const std::vector<Part>& parts, std::uint32_t seed)
      : in(inputs) {
    std::list<std::vector<std::byte>> bytes;
    std::vector<gpu::StoredTensor> tensors;
    for (const Part& part : parts) {
      const std::size_t elements = part.out * in;
      bytes.push_back(stored(part.dtype, elements, ++seed));
      tensors.push_back({"m", part.dtype, {part.out, in}, bytes.back(), "f"});
      std::vector<float> values(elements);
      gpu::dequantise(part.dtype, bytes.back(), values);
      for (const float value : values) weights.push_back(gpu::to_bfloat16(value));
      for (std::size_t o = 0; o < part.out; ++o) {
        outputs.push_back(static_cast<std::uint32_t>(out + o));
      }
      out += gpu::padded(part.out);
      weights.resize(out * in);
    }
    std::vector<const gpu::StoredTensor*> pointers;
    for (const auto& tensor : tensors) pointers.push_back(&tensor);
    packed = gpu::pack_matrices(pointers, gpu::Arithmetic::tensor_core);
  }

  /// inputs: [rows, in].
  Floats products(const Bfloat16s& inputs,
                  ContractStep step = contract_step(gpu::Arithmetic::tensor_core)) const {
    Floats result;
    for (std::size_t begin = 0; begin < inputs.size(); begin += in) {
      for (std::size_t o = 0; o < out; ++o) {
        result.push_back(contract_product({&weights[o * in], in}, {&inputs[begin], in}, 512, step));
      }
    }
    return result;
  }

 private:
  static std::vector<std::byte> stored(const std::string& dtype, std::size_t elements,
                                       std::uint32_t seed) {
    if (dtype != "F32" && dtype != "BF16") {
      return gpu::quantised_bytes(gpu::quantised_type(dtype), elements, seed);
    }
    std::mt19937 random(seed);
    const auto bytes_of = [](const auto& values) {
      const auto span = std::as_bytes(std::span(values));
      return std::vector<std::byte>(span.begin(), span.end());
    };
    if (dtype == "F32") return bytes_of(random_floats(elements, 0.3f, random));
    return bytes_of(random_bfloat16s(elements, 0.3f, random));
  }
};

/// Every type that several weights share a scale in, and, last, those that are rounded beside them.
inline const std::vector<std::string> quantised_dtypes{"Q8_0", "Q4_0", "Q4_1",   "Q4_K",
                                                       "Q6_K", "Q5_0", "Q5_1",   "Q5_K",
                                                       "Q2_K", "Q3_K", "IQ4_NL", "IQ4_XS"};
inline const std::vector<std::string> plain_dtypes{"F32", "BF16", "F16"};

/// All of these types, `each` outputs of every one.
inline std::vector<QuantisedMatrix::Part> parts_of_every_type(std::size_t each) {
  std::vector<QuantisedMatrix::Part> parts;
  for (const auto& dtype : quantised_dtypes) parts.push_back({dtype, each});
  for (const auto& dtype : plain_dtypes) parts.push_back({dtype, each});
  return parts;
}

}  // namespace tempera::tests
