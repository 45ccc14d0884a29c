// Products over quantised weights are, bit for bit, products over the float32 values that they
// dequantise to.
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "gpu/device/bfloat16_pairs.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "gpu/llm/transformer/weights/quantised_block.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"

namespace tempera::gpu::quantised_products_test {

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

// Few rows take two blocks of outputs side by side, if both are of one type.
TEST_CASE("each block of a stack is read as it is stored, whatever the one beside it is",
          "[kernels][quantised]") {
  constexpr std::size_t in = 512;
  Stack stack{in, {}, {}, {}, {}};
  std::size_t out = 0;
  for (const auto& type : quantised_types()) {
    stack.add(type.dtype, 5, static_cast<std::uint32_t>(out));
    out += padded(5);
  }
  const auto inputs = inputs_of(rows * in);
  DeviceMemory<float> device_inputs{std::span<const float>(inputs)};
  const auto products = [&](const Kernels& form, const PackedMatrix& matrix, std::size_t count) {
    DeviceMemory<float> outputs(count * out);
    form.multiply(matrix.view(), {device_inputs.data(), nullptr}, count, out, outputs.data());
    return bits_of(outputs.download(0, count * out));
  };
  for (const auto* form : forms_of_the_kernels())
    for (const std::size_t count : {1, 2, 3, 4, 5, 11}) {
      CAPTURE(form->name(), count);
      CHECK((products(*form, stack.packed(), count) == products(*form, stack.as_float32(), count)));
    }
}

namespace {

/// A weight by an arithmetic of tensor cores: what it dequantises to, rounded.
std::vector<std::uint16_t> rounded(const std::vector<float>& values) {
  std::vector<std::uint16_t> result;
  for (const float value : values) result.push_back(to_bfloat16(value));
  return result;
}

/// Segments of 512 inputs, each a chain of steps from 0, added in order.
float tensor_core_product(const std::uint16_t* weights, const std::uint16_t* inputs, std::size_t in,
                          Arithmetic arithmetic) {
  const auto step = arithmetic == Arithmetic::tensor_core ? hopper_step : ampere_step;
  float total = 0.0f;
  for (std::size_t begin = 0; begin < in; begin += 512) {
    float sum = 0.0f;
    for (std::size_t first = begin; first < std::min(in, begin + 512); first += 16) {
      sum = step(weights + first, inputs + first, sum);
    }
    total = begin == 0 ? sum : total + sum;
  }
  return total;
}

}  // namespace

TEST_CASE(
    "a product of tensor cores over quantised weights has the bits of one over rounded values",
    "[kernels][quantised]") {
  const auto arithmetic = GENERATE(Arithmetic::tensor_core, Arithmetic::tensor_core_ampere);
  CAPTURE(name_of(arithmetic));
  constexpr std::size_t out = 37;  // three blocks, the last one of five outputs
  constexpr std::size_t tensor_core_rows[] = {1, 7, 8, 9, 65};
  for (const auto& type : quantised_types()) {
    if (std::string(type.dtype) == "F16") continue;  // which alone is packed as fragments
    for (const std::size_t in : {256U, 768U, 1280U}) {
      Stack stack{in, {}, {}, {}, {}};
      stack.add(type.dtype, out, 5);
      const auto inputs = rounded(inputs_of(65 * in));
      const auto weights = rounded(stack.values[0]);
      std::vector<float> expected;
      for (std::size_t row = 0; row < 65; ++row) {
        for (std::size_t o = 0; o < out; ++o) {
          expected.push_back(
              tensor_core_product(&weights[o * in], &inputs[row * in], in, arithmetic));
        }
      }
      const auto matrix = stack.packed(arithmetic);
      REQUIRE(matrix.view().quantised != nullptr);
      DeviceMemory<std::uint16_t> given{std::span<const std::uint16_t>(inputs)};
      for (const auto* form : forms_of_the_kernels(arithmetic)) {
        for (const std::size_t count : tensor_core_rows) {
          CAPTURE(type.dtype, in, form->name(), count);
          DeviceMemory<float> outputs(count * out);
          form->multiply(matrix.view(), {nullptr, given.data()}, count, out, outputs.data());
          const std::vector<float> first(
              expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count * out));
          CHECK((bits_of(outputs.download(0, count * out)) == bits_of(first)));
        }
      }
    }
  }
}

namespace {

/// Segments of 32 inputs, each two chains of pairs from 0, added in order.
float product_of_pairs(const std::uint16_t* weights, const std::uint16_t* inputs, std::size_t in) {
  const auto word = [](const std::uint16_t* pair) {
    return pair[0] | static_cast<std::uint32_t>(pair[1]) << 16;
  };
  float total = 0.0f;
  for (std::size_t begin = 0; begin < in; begin += 32) {
    float chains[2] = {0.0f, 0.0f};
    for (std::size_t i = begin; i < std::min(in, begin + 32); i += 2) {
      float& sum = chains[i / 2 % 2];
      sum = add_pair(word(weights + i), word(inputs + i), sum);
    }
    total = flushed_sum(total, flushed_sum(chains[0], chains[1]));
  }
  return total + 0.0f;
}

/// The same of each row of inputs with each of `out` rows of weights.
std::vector<float> products_of_pairs(const std::vector<std::uint16_t>& weights, std::size_t out,
                                     const std::vector<std::uint16_t>& inputs, std::size_t in) {
  std::vector<float> products;
  for (std::size_t row = 0; row < inputs.size() / in; ++row) {
    for (std::size_t o = 0; o < out; ++o) {
      products.push_back(product_of_pairs(&weights[o * in], &inputs[row * in], in));
    }
  }
  return products;
}

}  // namespace

TEST_CASE("bfloat16-pairs products of more rows than one item or one group takes",
          "[kernels][bfloat16-pairs]") {
  constexpr std::size_t out = 37;
  constexpr std::size_t most = 1100;
  for (const bool quantised : {false, true}) {
    const std::size_t in = quantised ? 256 : 72;  // 72: the last segment is not full
    Stack stack{in, {}, {}, {}, {}};
    stack.add(quantised ? "Q4_1" : "F16", out, 5);
    const auto matrix = quantised ? stack.packed(Arithmetic::bfloat16_pairs)
                                  : stack.as_float32(Arithmetic::bfloat16_pairs);
    REQUIRE((matrix.view().quantised != nullptr) == quantised);
    const auto inputs = rounded(inputs_of(most * in));
    const auto weights = rounded(stack.values[0]);
    const auto expected = products_of_pairs(weights, out, inputs, in);
    DeviceMemory<std::uint16_t> given{std::span<const std::uint16_t>(inputs)};
    for (const auto* form : forms_of_the_kernels(Arithmetic::bfloat16_pairs)) {
      CAPTURE(quantised, form->name());
      DeviceMemory<float> outputs(most * out);
      form->multiply(matrix.view(), {nullptr, given.data()}, most, out, outputs.data());
      CHECK((bits_of(outputs.download(0, most * out)) == bits_of(expected)));
    }
  }
}

TEST_CASE(
    "a bfloat16-pairs product over weights of any type has the bits of one over rounded values",
    "[kernels][quantised][bfloat16-pairs]") {
  constexpr std::size_t out = 37;  // three blocks, the last one of five outputs
  constexpr unsigned most = 65;
  for (const auto& type : quantised_types()) {
    for (const std::size_t in : {256U, 768U, 1280U}) {
      Stack stack{in, {}, {}, {}, {}};
      stack.add(type.dtype, out, 5);
      const auto inputs = rounded(inputs_of(most * in));
      const auto weights = rounded(stack.values[0]);
      const auto expected = products_of_pairs(weights, out, inputs, in);
      const auto matrix = stack.packed(Arithmetic::bfloat16_pairs);
      DeviceMemory<std::uint16_t> given{std::span<const std::uint16_t>(inputs)};
      for (const auto* form : forms_of_the_kernels(Arithmetic::bfloat16_pairs)) {
        for (const std::size_t count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 13U, most}) {
          CAPTURE(type.dtype, in, form->name(), count);
          DeviceMemory<float> outputs(count * out);
          form->multiply(matrix.view(), {nullptr, given.data()}, count, out, outputs.data());
          const std::vector<float> first(
              expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count * out));
          CHECK((bits_of(outputs.download(0, count * out)) == bits_of(first)));
        }
      }
    }
  }
}

TEST_CASE("under tensor-core a stack of several types has the bits of its values as fragments",
          "[kernels][quantised]") {
  constexpr std::size_t in = 768;
  Stack stack{in, {}, {}, {}, {}};
  for (const auto& type : quantised_types()) stack.add(type.dtype, 20, 11);
  stack.add("F16", 20, 12);
  stack.add("Q6_K", 20, 13);
  const std::size_t out = 8 * padded(20);
  const auto packed = stack.packed(Arithmetic::tensor_core);
  const auto fragments = stack.as_float32(Arithmetic::tensor_core);
  REQUIRE(packed.view().quantised != nullptr);
  REQUIRE(fragments.view().fragments != nullptr);
  const auto inputs = rounded(inputs_of(rows * in));
  DeviceMemory<std::uint16_t> given{std::span<const std::uint16_t>(inputs)};
  const std::vector<std::uint32_t> tokens{0, 19, 33, 50, 64, 83, 99, 115, 128, 147, 230};
  const DeviceMemory<std::uint32_t> device_tokens{std::span<const std::uint32_t>(tokens)};
  const auto before = inputs_of(rows * out);
  const DeviceMemory<float> bias{std::span<const float>(before).first(out)};
  for (const auto* form : forms_of_the_kernels(Arithmetic::tensor_core)) {
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
      DeviceMemory<float> outputs{std::span<const float>(before)};
      const ProductInputs view{nullptr, given.data()};
      form->multiply_and_add(matrix.view(), view, rows, out, outputs.data());
      keep(outputs);
      form->multiply_with_bias(matrix.view(), view, bias.data(), rows, out, outputs.data());
      keep(outputs);
      DeviceMemory<std::uint16_t> gated(rows * out / 2);
      form->multiply_gated(matrix.view(), view, rows, out / 2, {nullptr, gated.data()});
      for (const auto value : gated.download(0, gated.size())) all.push_back(value);
      return all;
    };
    CAPTURE(form->name());
    CHECK((results(packed) == results(fragments)));
  }
}

TEST_CASE("beside quantised weights others are rounded once, and what bfloat16 cannot hold refused",
          "[quantised]") {
  std::vector<float> plain(16 * 256, 0x1.018p0f);
  const auto quants = quantised_bytes(quantised_type("Q4_0"), 16 * 256, 1);
  const auto pack = [&] {
    const StoredTensor first{"first", "Q4_0", {16, 256}, quants, "f"};
    const StoredTensor second{
        "second", "F32", {16, 256}, std::as_bytes(std::span<const float>(plain)), "f"};
    const std::array<const StoredTensor*, 2> pointers{&first, &second};
    return pack_matrices(pointers, Arithmetic::tensor_core);
  };
  const auto matrix = pack();
  CHECK(std::get<DeviceMemory<std::byte>>(matrix.weights).size() ==
        quants.size() + 2 * plain.size());
  CHECK(packing_of(matrix.blocks.download(1, 1)[0]) == Packing::bfloat16);
  plain[2 * 256 + 3] = 3.4e38f;
  require_bad_input(pack, {"f, tensor \"second\"", "element 515", "too large for bfloat16"});
  plain[2 * 256 + 3] = INFINITY;
  require_bad_input(pack, {"f, tensor \"second\"", "element 515", "is NaN or infinite"});
}

TEST_CASE("quantised weights take the memory that the documentation says", "[quantised]") {
  // Each is that of 16 outputs and 256 inputs.
  const std::map<std::string, std::size_t> bytes_of_type{
      {"F16", 8192},  {"Q8_0", 4352},   {"Q4_0", 2304},  {"Q4_1", 2560}, {"Q6_K", 3360},
      {"Q5_0", 2816}, {"Q5_1", 3072},   {"Q4_K", 2368},  {"Q5_K", 2880}, {"Q2_K", 1600},
      {"Q3_K", 3360}, {"IQ4_NL", 4352}, {"IQ4_XS", 4256}};
  for (const auto& type : quantised_types()) {
    Stack stack{512, {}, {}, {}, {}};
    stack.add(type.dtype, 32, 3);
    for (const auto arithmetic : arithmetics) {
      if (rounds_to_bfloat16(arithmetic) && std::string(type.dtype) == "F16") continue;
      const auto matrix = stack.packed(arithmetic);
      if (arithmetic == Arithmetic::integer) {
        // 16 bits a weight, and a step for each segment of 512 inputs.
        CHECK(std::get<DeviceMemory<std::uint32_t>>(matrix.weights).size() ==
              2 * 16 * (512 / 2 + 1));
        continue;
      }
      const auto bytes = std::get<DeviceMemory<std::byte>>(matrix.weights).size();
      CAPTURE(type.dtype);
      CHECK(bytes == 4 * bytes_of_type.at(type.dtype));
    }
  }
}

TEST_CASE("MXFP4 is packed as the bfloat16s that its values are", "[quantised]") {
  constexpr std::size_t in = 320, out = 21;
  std::vector<std::byte> bytes(in * out / 32 * 17);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i % 17 == 0 ? i / 17 * 3 % 253 : i * 89 >> 2 & 0xFF);
  }
  std::vector<float> values(in * out);
  dequantise("MXFP4", bytes, values);
  std::vector<std::uint16_t> rounded;
  for (const float value : values) {
    rounded.push_back(to_bfloat16(value));
    REQUIRE(from_bfloat16(rounded.back()) == value);
  }
  const StoredTensor stored{"m", "MXFP4", {out, in}, bytes, "f"};
  const StoredTensor same{
      "m", "BF16", {out, in}, std::as_bytes(std::span<const std::uint16_t>(rounded)), "f"};
  const StoredTensor beside = [&] {
    static const auto quants = quantised_bytes(quantised_type("Q5_0"), in * 16, 3);
    return StoredTensor{"q", "Q5_0", {16, in}, quants, "f"};
  }();
  const auto bytes_of = [](const PackedMatrix& matrix) {
    return std::visit(
        []<class Held>(const Held& held) {
          std::vector<std::byte> all;
          if constexpr (!std::is_same_v<Held, MappedMatrix>) {
            for (const auto& word : held.download(0, held.size())) {
              const auto part = std::as_bytes(std::span(&word, 1));
              all.insert(all.end(), part.begin(), part.end());
            }
          }
          return all;
        },
        matrix.weights);
  };
  for (const auto arithmetic : arithmetics) {
    for (const bool is_alone : {true, false}) {
      std::vector<const StoredTensor*> given{&stored};
      std::vector<const StoredTensor*> expected{&same};
      if (!is_alone) {
        given.push_back(&beside);
        expected.push_back(&beside);
      }
      if (arithmetic == Arithmetic::integer) {
        // They go up to 6 · 2^125.
        for (const auto& some : {given, expected})
          require_bad_input([&] { pack_matrices(some, arithmetic); },
                            {"f, tensor \"m\"", "too large for whole numbers"});
        continue;
      }
      CHECK((bytes_of(pack_matrices(given, arithmetic)) ==
             bytes_of(pack_matrices(expected, arithmetic))));
    }
  }
  bytes[5 * 17] = std::byte{255};
  bytes[5 * 17 + 1] = std::byte{0x77};  // 6 · 2^128
  const StoredTensor* const pointer = &stored;
  require_bad_input(
      [&] {
        pack_matrices({&pointer, 1}, Arithmetic::float32);
      },
      {"f, tensor \"m\"", "element 160", "is NaN or infinite"});
}

}  // namespace tempera::gpu::quantised_products_test
