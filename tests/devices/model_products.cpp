#include "tests/devices/model_products.hpp"

#include <algorithm>

#include "gpu/llm/transformer/weights/filled_tensors.hpp"

namespace tempera::gpu {

std::vector<ModelProduct> products_of(const DecoderConfig& config) {
  using Form = ModelProduct::Form;
  const std::size_t query = config.num_attention_heads * config.head_dim;
  const std::size_t key_value = config.num_key_value_heads * config.head_dim;
  return {{"query, key, value", config.hidden_size, query + 2 * key_value, Form::store},
          {"attention output", query, config.hidden_size, Form::add},
          {"gate and up", config.hidden_size, config.intermediate_size, Form::gate},
          {"down", config.intermediate_size, config.hidden_size, Form::add},
          {"head", config.hidden_size, config.vocab_size, Form::store, true}};
}

std::vector<PackedMatrix> copies_of(const ModelProduct& product, Arithmetic arithmetic) {
  constexpr std::uint64_t beyond_caches = std::uint64_t{1} << 30;
  const std::uint64_t bytes = 2 * product.weights();
  const std::uint64_t count = std::clamp<std::uint64_t>(beyond_caches / bytes, 2, 40);
  FilledTensors tensors(7);
  std::vector<PackedMatrix> copies;
  for (std::uint64_t i = 0; i < count; ++i) {
    copies.push_back(
        product.is_gated()
            ? tensors.stacked({{"gate", product.out}, {"up", product.out}}, product.in, arithmetic)
            : tensors.matrix("weights", product.out, product.in, arithmetic));
  }
  return copies;
}

}  // namespace tempera::gpu
