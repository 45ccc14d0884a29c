#include "gpu/llm/transformer/weights/filled_tensors.hpp"

#include <cmath>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/model_shapes.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

using namespace tempera::gpu;

namespace {

std::vector<std::uint32_t> fragments_of(const PackedMatrix& matrix) {
  const auto& memory = std::get<DeviceMemory<std::uint32_t>>(matrix.weights);
  return memory.download(0, memory.size());
}

}  // namespace

TEST_CASE("filled weights are bfloat16s of both signs whose variance is about 1 / inputs") {
  constexpr std::size_t in = 256;
  constexpr std::size_t out = 40;
  FilledTensors tensors(3);
  const auto matrix = tensors.matrix("w", out, in, Arithmetic::tensor_core);
  CHECK(matrix.out == 48);
  const auto words = fragments_of(matrix);
  REQUIRE(words.size() == 48 * in / 2);
  double sum = 0.0;
  double squares = 0.0;
  for (const std::uint32_t word : words) {
    for (const auto half : {word & 0xFFFFU, word >> 16}) {
      const auto value = static_cast<double>(from_bfloat16(static_cast<std::uint16_t>(half)));
      REQUIRE(std::isfinite(value));
      REQUIRE(value != 0.0);
      sum += value;
      squares += value * value;
    }
  }
  const auto count = static_cast<double>(2 * words.size());
  CHECK(squares / count > 1.0 / in);
  CHECK(squares / count < 4.0 / in);
  // Six standard deviations of the mean of so many.
  CHECK(std::abs(sum / count) < 6.0 * std::sqrt(4.0 / in / count));
  // Neither the same matrix twice nor another one for the same seed.
  CHECK(fragments_of(tensors.matrix("w", out, in, Arithmetic::tensor_core)) != words);
  FilledTensors again(3);
  CHECK(fragments_of(again.matrix("w", out, in, Arithmetic::tensor_core)) == words);
  CHECK_THROWS_AS(tensors.matrix("w", out, 24, Arithmetic::tensor_core), tempera::Bug);
}

TEST_CASE("a filled model computes finite logits in either arithmetic") {
  for (const Arithmetic arithmetic : arithmetics) {
    const auto model =
        filled_qwen3(find_model_shape("tiny")->config, 5, default_kernels(arithmetic));
    DeviceMemory<float> rows;
    const std::vector<TokenId> text{1, 500, 3};
    model->logits_at_every_position(text, rows);
    double largest = 0.0;
    for (const float logit : rows.download(0, 3 * model->vocabulary_size())) {
      REQUIRE(std::isfinite(logit));
      largest = std::max(largest, static_cast<double>(std::abs(logit)));
    }
    CHECK(largest > 0.1);
  }
}
