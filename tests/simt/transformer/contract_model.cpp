#include "tests/simt/transformer/contract_model.hpp"

#include <cmath>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

namespace tempera::tests {

const gpu::StoredTensor& RememberedTensors::tensor(const std::string& name, const Shape& shape) {
  std::size_t size = 1;
  for (const auto extent : shape) size *= extent;
  const bool is_vector = shape.size() == 1;
  const float scale = is_vector ? 0.2f : 1.0f / std::sqrt(static_cast<float>(shape.back()));
  auto& values = made_[name];
  values = random_bfloat16s(size, scale, random_);
  if (is_vector) {
    for (auto& value : values) value = gpu::to_bfloat16(1.0f + gpu::from_bfloat16(value));
  }
  auto& stored = stored_[name];
  stored = {name, "BF16", shape, std::as_bytes(std::span(values)), "remembered"};
  return stored;
}

namespace {

Bfloat16s rounded(const Floats& values) {
  Bfloat16s result;
  for (const float value : values) result.push_back(gpu::to_bfloat16(value));
  return result;
}

Floats part(const Floats& values, std::size_t begin, std::size_t size) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace

Floats ContractModel::vector(const std::string& name) const {
  Floats result;
  for (const auto value : tensors_.named(name)) result.push_back(gpu::from_bfloat16(value));
  return result;
}

ContractHead ContractModel::stored(const Floats& head) const {
  if (elements_ == gpu::PageElements::eight_bits) return contract_8_bits(head);
  ContractHead result;
  for (const auto element : rounded(head)) result.elements.push_back(gpu::from_bfloat16(element));
  return result;
}

Floats ContractModel::product(const std::string& name, const Bfloat16s& inputs) const {
  const Bfloat16s& matrix = tensors_.named(name);
  Floats result;
  for (std::size_t begin = 0; begin < matrix.size(); begin += inputs.size()) {
    result.push_back(contract_product({&matrix[begin], inputs.size()}, inputs, 512, step_));
  }
  return result;
}

Bfloat16s ContractModel::norm(const std::string& name, const Floats& state) const {
  return rounded(contract_norm(state, vector(name), static_cast<float>(config_.rms_norm_eps), 256));
}

Floats ContractModel::logits(const std::vector<std::uint32_t>& text) const {
  const std::size_t size = config_.head_dim;
  const std::size_t half = size / 2;
  const std::size_t heads = config_.num_attention_heads;
  const std::size_t key_heads = config_.num_key_value_heads;
  const auto epsilon = static_cast<float>(config_.rms_norm_eps);
  std::vector<HeadVectors> keys(config_.num_hidden_layers * key_heads);
  std::vector<HeadVectors> values(config_.num_hidden_layers * key_heads);
  Floats state;
  for (std::size_t position = 0; position < text.size(); ++position) {
    Floats cosines;
    Floats sines;
    for (std::size_t d = 0; d < half; ++d) {
      const double angle =
          static_cast<double>(position) *
          std::pow(config_.rope_theta, -static_cast<double>(d) / static_cast<double>(half));
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
    state = part(vector("model.embed_tokens.weight"), text[position] * config_.hidden_size,
                 config_.hidden_size);
    for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
      const std::string prefix = "model.layers." + std::to_string(layer) + ".";
      const Bfloat16s normed = norm(prefix + "input_layernorm.weight", state);
      const Floats query = product(prefix + "self_attn.q_proj.weight", normed);
      const Floats key = product(prefix + "self_attn.k_proj.weight", normed);
      const Floats value = product(prefix + "self_attn.v_proj.weight", normed);
      const auto turned = [&](const Floats& all, std::size_t head, const std::string& name) {
        return contract_rotation(
            contract_norm(part(all, head * size, size), vector(prefix + name), epsilon, 32),
            cosines, sines);
      };
      for (std::size_t head = 0; head < key_heads; ++head) {
        keys[layer * key_heads + head].push_back(
            stored(turned(key, head, "self_attn.k_norm.weight")));
        values[layer * key_heads + head].push_back(stored(part(value, head * size, size)));
      }
      Bfloat16s attended;
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t key_head = layer * key_heads + head / (heads / key_heads);
        const auto one = rounded(contract_attention(turned(query, head, "self_attn.q_norm.weight"),
                                                    keys[key_head], values[key_head]));
        attended.insert(attended.end(), one.begin(), one.end());
      }
      const Floats projected = product(prefix + "self_attn.o_proj.weight", attended);
      for (std::size_t i = 0; i < state.size(); ++i) state[i] = state[i] + projected[i];

      const Bfloat16s again = norm(prefix + "post_attention_layernorm.weight", state);
      const Floats gate = product(prefix + "mlp.gate_proj.weight", again);
      const Floats up = product(prefix + "mlp.up_proj.weight", again);
      Bfloat16s gated;
      for (std::size_t i = 0; i < gate.size(); ++i) {
        const float silu = gate[i] / (1.0f + gpu::float32_exponential(-gate[i]));
        gated.push_back(gpu::to_bfloat16(silu * up[i]));
      }
      const Floats down = product(prefix + "mlp.down_proj.weight", gated);
      for (std::size_t i = 0; i < state.size(); ++i) state[i] = state[i] + down[i];
    }
  }
  return product(config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight",
                 norm("model.norm.weight", state));
}

}  // namespace tempera::tests
