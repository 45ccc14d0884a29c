// Steps of a model of quantised weights on fibers, against the host's form, and against the same
// model of the values that its weights dequantise to, which is packed as fragments.
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"

namespace tempera::gpu {

namespace {

/// Matrices in the types that a name's ending says, or the float32 values of the same bytes.
class QuantisedTensors final : public TensorSource {
 public:
  explicit QuantisedTensors(bool dequantised) : dequantised_(dequantised) {}

 private:
  const StoredTensor& tensor(const std::string& name, const Shape& shape) override {
    static const std::map<std::string, std::string> types{
        {"q_proj.weight", "Q4_K"},    {"k_proj.weight", "Q6_K"},    {"v_proj.weight", "Q8_0"},
        {"o_proj.weight", "Q4_1"},    {"gate_proj.weight", "Q4_0"}, {"up_proj.weight", "F16"},
        {"down_proj.weight", "Q6_K"}, {"lm_head.weight", "Q4_K"},   {"embed_tokens.weight", "Q8_0"},
    };
    Made& made = made_.emplace_back();
    std::size_t size = 1;
    for (const auto extent : shape) size *= extent;
    for (const auto& [ending, dtype] : types) {
      if (!name.ends_with(ending)) continue;
      const auto& type = quantised_type(dtype);
      made.bytes = quantised_bytes(type, size, static_cast<std::uint32_t>(++count_));
      made.tensor = {name, dtype, shape, made.bytes, "made"};
      if (!dequantised_) return made.tensor;
      made.values = gpu::dequantised(type, made.bytes);
    }
    if (made.values.empty()) made.values.assign(size, 0.75f);
    made.tensor = {name, "F32", shape, std::as_bytes(std::span<const float>(made.values)), "made"};
    return made.tensor;
  }

  struct Made {
    std::vector<std::byte> bytes;
    std::vector<float> values;
    StoredTensor tensor;
  };
  bool dequantised_;
  std::size_t count_ = 0;
  std::list<Made> made_;
};

DecoderConfig quantised_config() {
  DecoderConfig config;
  config.vocab_size = 53;
  config.hidden_size = 256;
  config.intermediate_size = 768;
  config.num_hidden_layers = 1;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 64;
  config.max_position_embeddings = 64;
  return config;
}

std::vector<std::uint32_t> bits_of_quantised_steps(bool dequantised, const Kernels& kernels) {
  const auto config = quantised_config();
  QuantisedTensors tensors(dequantised);
  Transformer model(std::make_unique<Llama>(config, tensors, kernels));
  std::vector<std::uint32_t> bits;
  DeviceMemory<float> rows;
  const auto next = [&](const std::vector<Pass>& passes) {
    model.next_logits(passes, rows);
    for (const float logit : rows.download(0, passes.size() * config.vocab_size)) {
      bits.emplace_back();
      std::memcpy(&bits.back(), &logit, sizeof logit);
    }
  };
  const std::vector<TokenId> prompt{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  const auto root = model.empty_cache();
  next({{root.get(), prompt}});
  const auto fork = root->fork(9);
  const std::vector<TokenId> one{52};
  const std::vector<TokenId> two{7, 11};
  next({{fork.get(), two}, {root.get(), one}});
  return bits;
}

}  // namespace

TEST_CASE("steps of a model of quantised weights have the same bits on fibers and on the host") {
  const CudaKernels on_fibers(5);
  const auto& host = default_kernels(Arithmetic::tensor_core);
  const auto expected = bits_of_quantised_steps(true, host);
  REQUIRE(expected.size() == 3 * quantised_config().vocab_size);
  REQUIRE(expected[0] != expected[1]);
  CHECK((bits_of_quantised_steps(false, host) == expected));
  const std::uint64_t before = on_fibers.launches();
  CHECK((bits_of_quantised_steps(false, on_fibers) == expected));
  // Two passes and the head of each: no more kernels than for other weights.
  const std::uint64_t quantised = on_fibers.launches() - before;
  CHECK((bits_of_quantised_steps(true, on_fibers) == expected));
  CHECK(on_fibers.launches() - before == 2 * quantised);
}

}  // namespace tempera::gpu
