// Products over quantised weights are, bit for bit, products over the float32 values that they
// dequantise to.
#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/transformer/weights/packed_matrix.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/transformer/kernels/forms.hpp"
#include "tests/gpu/transformer/weights/quantised_bytes.hpp"

namespace tempera::gpu {

namespace {

/// Matrices of `in` inputs, one after another in one packed matrix.
struct Stack {
  std::size_t in;
  std::vector<std::size_t> outs;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::string> dtypes;
  std::vector<std::vector<float>> values;

  void add(const std::string& dtype, std::size_t out, std::uint32_t seed) {
    const auto& type = quantised_type(dtype);
    outs.push_back(out);
    dtypes.push_back(dtype);
    bytes.push_back(quantised_bytes(type, out * in, seed));
    values.push_back(dequantised(type, bytes.back()));
  }
  PackedMatrix packed(Arithmetic arithmetic = Arithmetic::float32) const {
    return pack(
        [&](std::size_t i) {
          return StoredTensor{"m", dtypes[i], {outs[i], in}, bytes[i], "f"};
        },
        arithmetic);
  }
  PackedMatrix as_float32(Arithmetic arithmetic = Arithmetic::float32) const {
    return pack(
        [&](std::size_t i) {
          return StoredTensor{
              "m", "F32", {outs[i], in}, std::as_bytes(std::span<const float>(values[i])), "f"};
        },
        arithmetic);
  }

 private:
  template <class TensorOf>
  PackedMatrix pack(const TensorOf& tensor_of, Arithmetic arithmetic) const {
    std::vector<StoredTensor> tensors;
    for (std::size_t i = 0; i < outs.size(); ++i) tensors.push_back(tensor_of(i));
    std::vector<const StoredTensor*> pointers;
    for (const auto& tensor : tensors) pointers.push_back(&tensor);
    return pack_matrices(pointers, arithmetic);
  }
};

std::vector<float> inputs_of(std::size_t size) {
  std::mt19937 random(7);
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i) {
    values.push_back(static_cast<float>(static_cast<int>(random() % 65536) - 32768) * 0x1.1p-14f);
  }
  return values;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

constexpr std::size_t rows = 11;
/// Few rows read weights as they are stored; more share weights that were made floats.
constexpr std::size_t row_counts[] = {1, 2, 4, 5, rows, 67};
constexpr std::size_t most_rows = 67;

/// Runs of 256 products, each a chain from 0, added in order.
float product(const float* weights, const float* inputs, std::size_t in) {
  float total = 0.0f;
  for (std::size_t begin = 0; begin < in; begin += 256) {
    float run = 0.0f;
    for (std::size_t i = begin; i < std::min(in, begin + 256); ++i) {
      run = std::fma(inputs[i], weights[i], run);
    }
    total += run;
  }
  return total;
}

}  // namespace

TEST_CASE("a product over quantised weights has the bits of one over their float32 values",
          "[kernels][quantised]") {
  constexpr std::size_t out = 85;  // six blocks, the last one of five outputs
  for (const auto& type : quantised_types()) {
    const std::size_t block = stored_block(type.dtype)->elements;
    for (const std::size_t in : {block == 1 ? 37 : block, 256 + 3 * (block == 1 ? 5 : block)}) {
      Stack stack{in, {}, {}, {}, {}};
      stack.add(type.dtype, out, 1);
      auto inputs = inputs_of(most_rows * in);
      std::vector<float> expected;
      for (std::size_t row = 0; row < most_rows; ++row) {
        for (std::size_t o = 0; o < out; ++o) {
          expected.push_back(product(&stack.values[0][o * in], &inputs[row * in], in));
        }
      }
      const auto matrix = stack.packed();
      CHECK(matrix.view().quantised != nullptr);
      DeviceMemory<float> device_inputs{std::span<const float>(inputs)};
      for (const auto* form : forms_of_the_kernels()) {
        CAPTURE(type.dtype, in, form->name());
        for (const std::size_t count : row_counts) {
          CAPTURE(count);
          DeviceMemory<float> outputs(count * out);
          form->multiply(matrix.view(), {device_inputs.data(), nullptr}, count, out,
                         outputs.data());
          const std::vector<float> first(
              expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count * out));
          CHECK((bits_of(outputs.download(0, count * out)) == bits_of(first)));
        }
      }
    }
  }
}

TEST_CASE("embedding, bias, sum and gate take quantised weights too, of several types in a stack",
          "[kernels][quantised]") {
  constexpr std::size_t in = 512;
  Stack stack{in, {}, {}, {}, {}};
  std::size_t out = 0;
  for (const auto& type : quantised_types()) {
    stack.add(type.dtype, 20, static_cast<std::uint32_t>(out));
    out += padded(20);
  }
  const auto inputs = inputs_of(rows * in);
  DeviceMemory<float> device_inputs{std::span<const float>(inputs)};
  const std::vector<std::uint32_t> tokens{0, 19, 33, 50, 64, 83, 99, 115, 128, 147, 179};
  const DeviceMemory<std::uint32_t> device_tokens{std::span<const std::uint32_t>(tokens)};
  const auto bias = inputs_of(out);
  const DeviceMemory<float> device_bias{std::span<const float>(bias)};
  for (const auto* form : forms_of_the_kernels()) {
    CAPTURE(form->name());
    const auto results = [&](const PackedMatrix& matrix) {
      std::vector<std::uint32_t> all;
      const auto keep = [&](const DeviceMemory<float>& memory) {
        const auto bits = bits_of(memory.download(0, memory.size()));
        all.insert(all.end(), bits.begin(), bits.end());
      };
      DeviceMemory<float> states(rows * in);
      form->embed(matrix.view(), {rows, 0, device_tokens.data(), nullptr, nullptr, nullptr},
                  states.data());
      keep(states);
      DeviceMemory<float> outputs(rows * out);
      const ProductInputs view{device_inputs.data(), nullptr};
      form->multiply_with_bias(matrix.view(), view, device_bias.data(), rows, out, outputs.data());
      keep(outputs);
      form->multiply_and_add(matrix.view(), view, rows, out, outputs.data());
      keep(outputs);
      form->multiply_gated(matrix.view(), view, rows, out / 2, {outputs.data(), nullptr});
      keep(outputs);
      return all;
    };
    CHECK((results(stack.packed()) == results(stack.as_float32())));
  }
}

TEST_CASE("under tensor-core quantised weights are their values, rounded", "[quantised]") {
  for (const auto& type : quantised_types()) {
    Stack stack{256, {}, {}, {}, {}};
    stack.add(type.dtype, 21, 3);
    const auto fragments = [&](const PackedMatrix& matrix) {
      const auto& words = std::get<DeviceMemory<std::uint32_t>>(matrix.weights);
      return words.download(0, words.size());
    };
    CAPTURE(type.dtype);
    CHECK((fragments(stack.packed(Arithmetic::tensor_core)) ==
           fragments(stack.as_float32(Arithmetic::tensor_core))));
  }
}

TEST_CASE("quantised weights take no more memory than in their file, Q4_K a thirty-sixth more",
          "[quantised]") {
  for (const auto& type : quantised_types()) {
    Stack stack{512, {}, {}, {}, {}};
    stack.add(type.dtype, 32, 3);
    const auto matrix = stack.packed();
    const auto bytes = std::get<DeviceMemory<std::byte>>(matrix.weights).size();
    CAPTURE(type.dtype);
    CHECK(bytes == stack.bytes[0].size() * (std::string(type.dtype) == "Q4_K" ? 37 : 36) / 36);
  }
}

}  // namespace tempera::gpu
