// A step of each architecture on fibers, against the host's form of the same arithmetic: what the
// others have and Qwen3 has not are biases, heads without norms, scaled rotations, fused weights.
#include <cstring>
#include <memory>
#include <vector>

#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

namespace {

DecoderConfig config_of(bool tied) {
  DecoderConfig config;
  config.vocab_size = 53;
  config.hidden_size = 40;
  config.intermediate_size = 72;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 6;
  config.num_key_value_heads = 2;
  config.head_dim = 24;
  config.max_position_embeddings = 64;
  config.tie_word_embeddings = tied;
  for (std::size_t d = 0; d < 12; ++d) {
    config.rope_factors.push_back(1.0 + 0.5 * static_cast<double>(d));
  }
  config.rope_magnitude = 1.25;
  return config;
}

template <class Model>
std::vector<std::uint32_t> bits_of_steps(const DecoderConfig& config, const Kernels& kernels) {
  RandomTensors tensors(17);
  Transformer model(std::make_unique<Model>(config, tensors, kernels));
  std::vector<std::uint32_t> bits;
  DeviceMemory<float> rows;
  const auto next = [&](const std::vector<Pass>& passes) {
    model.next_logits(passes, rows);
    for (const float logit : rows.download(0, passes.size() * config.vocab_size)) {
      bits.emplace_back();
      std::memcpy(&bits.back(), &logit, sizeof logit);
    }
  };
  const std::vector<TokenId> prompt{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8};
  const auto root = model.empty_cache();
  next({{root.get(), prompt}});
  const auto fork = root->fork(17);
  const std::vector<TokenId> one{52};
  const std::vector<TokenId> two{7, 11};
  next({{fork.get(), two}, {root.get(), one}});
  return bits;
}

template <class Model>
std::vector<std::uint32_t> require_same_bits(bool tied, const Kernels& on_fibers) {
  INFO(Model::model_type);
  const auto config = config_of(tied);
  const auto host = bits_of_steps<Model>(config, default_kernels(on_fibers.arithmetic()));
  const auto fibers = bits_of_steps<Model>(config, on_fibers);
  REQUIRE(host.size() == 3 * config.vocab_size);
  REQUIRE((fibers == host));
  return fibers;
}

template <class Model>
std::vector<std::uint32_t> require_same_bits(bool tied,
                                             Arithmetic arithmetic = Arithmetic::tensor_core) {
  return require_same_bits<Model>(tied, CudaKernels(5, std::nullopt, StepForm::graph, arithmetic));
}

}  // namespace

TEST_CASE("a step of every architecture has the same bits on fibers and on the host") {
  require_same_bits<Llama>(true);
  require_same_bits<Qwen2>(false);
  require_same_bits<Phi3>(false);
}

TEST_CASE("a step with pages of 8 bits has the same bits on fibers and on the host") {
  const auto of_hopper = require_same_bits<Llama>(true, Arithmetic::tensor_core_8_bit_pages);
  const auto of_ampere = require_same_bits<Llama>(true, Arithmetic::tensor_core_ampere_8_bit_pages);
  CHECK((of_hopper != of_ampere));
  CHECK((of_hopper != require_same_bits<Llama>(true)));
}

TEST_CASE("a step of Ampere's tensor cores has the same bits on fibers and on the host") {
  const auto of_ampere = require_same_bits<Qwen2>(false, Arithmetic::tensor_core_ampere);
  CHECK((of_ampere != require_same_bits<Qwen2>(false)));
}

TEST_CASE("a step of integer has the same bits on fibers and on the host, whatever the family") {
  const CudaIntegerKernels on_fibers(5);
  require_same_bits<Llama>(true, on_fibers);
  require_same_bits<Qwen2>(false, on_fibers);
  require_same_bits<Phi3>(false, on_fibers);
}

}  // namespace tempera::gpu
