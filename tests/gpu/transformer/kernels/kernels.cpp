#include "gpu/transformer/kernels/kernels.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/transformer/weights/safetensors.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {

namespace {

/// Whole numbers small enough that every sum of products is exact in float32 in any order: then
/// kernels are compared with ==.
std::vector<float> whole_numbers(std::size_t size) {
  return *rc::gen::container<std::vector<float>>(
      size, rc::gen::map(rc::gen::inRange(-8, 9), [](int n) { return static_cast<float>(n); }));
}

/// [out, in] in a dtype of a file.
PackedMatrix packed(const std::vector<std::vector<float>>& parts, std::size_t in, bool bfloat16) {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<StoredTensor> tensors;
  for (const auto& part : parts) {
    auto& stored = bytes.emplace_back();
    for (const float value : part) {
      std::byte raw[4];
      std::memcpy(raw, &value, 4);
      stored.insert(stored.end(), raw + (bfloat16 ? 2 : 0), raw + 4);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    tensors.push_back({"m", bfloat16 ? "BF16" : "F32", {parts[i].size() / in, in}, bytes[i], "f"});
  }
  std::vector<const StoredTensor*> pointers;
  for (const auto& tensor : tensors) pointers.push_back(&tensor);
  return pack_matrices(pointers);
}

}  // namespace

TEST_CASE("matrix products of whole numbers are exact for every shape and dtype", "[kernels]") {
  law("multiply and multiply_and_add give the sums, and touch nothing else", [] {
    const auto rows = *rc::gen::inRange<std::size_t>(1, 20);
    const auto in = *rc::gen::element<std::size_t>(1, 2, 15, 16, 17, 40, 255, 256, 257, 600);
    const auto out = *rc::gen::inRange<std::size_t>(1, 40);
    const auto matrix = whole_numbers(out * in);
    const auto inputs = whole_numbers(rows * in);
    const auto weights = packed({matrix}, in, *rc::gen::arbitrary<bool>());
    const DeviceMemory<float> device_inputs{std::span<const float>(inputs)};
    const std::vector<float> before(rows * out + 1, 5.0f);
    DeviceMemory<float> outputs{std::span<const float>(before)};
    const bool adds = *rc::gen::arbitrary<bool>();
    (adds ? multiply_and_add : multiply)(weights, device_inputs.data(), rows, out, outputs.data());
    const auto result = outputs.download(0, outputs.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t o = 0; o < out; ++o) {
        float sum = adds ? 5.0f : 0.0f;
        for (std::size_t i = 0; i < in; ++i) sum += matrix[o * in + i] * inputs[row * in + i];
        RC_ASSERT(result[row * out + o] == sum);
      }
    }
    RC_ASSERT(result.back() == 5.0f);
  });
}

TEST_CASE("the gated product is SwiGLU", "[kernels]") {
  law("silu(gate) * up to float32 rounding", [] {
    const auto rows = *rc::gen::inRange<std::size_t>(1, 10);
    const auto in = *rc::gen::inRange<std::size_t>(1, 20);
    const auto out = *rc::gen::inRange<std::size_t>(1, 40);
    const auto gate = whole_numbers(out * in);
    const auto up = whole_numbers(out * in);
    const auto inputs = whole_numbers(rows * in);
    const auto weights = packed({gate, up}, in, *rc::gen::arbitrary<bool>());
    const DeviceMemory<float> device_inputs{std::span<const float>(inputs)};
    DeviceMemory<float> gated(rows * out);
    multiply_gated(weights, device_inputs.data(), rows, out, gated.data());
    const auto result = gated.download(0, rows * out);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t o = 0; o < out; ++o) {
        double g = 0;
        double u = 0;
        for (std::size_t i = 0; i < in; ++i) {
          g += gate[o * in + i] * inputs[row * in + i];
          u += up[o * in + i] * inputs[row * in + i];
        }
        // The products are exact. e^-g errs by 2 half units, the sum, the quotient and the product
        // by one each: 5·2^-24 relative; and where e^-g is clamped, below e^-87·|g·u|.
        const double exact = g * u / (1 + std::exp(-g));
        const double bound = 5 * 0x1p-24 * std::abs(exact) + 2e-38 * std::abs(g * u);
        RC_ASSERT(std::abs(static_cast<double>(result[row * out + o]) - exact) <= bound);
      }
    }
  });
}

}  // namespace tempera::gpu
