#include "gpu/transformer/architectures/weights.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"

namespace tempera::gpu {

namespace {

using Shape = std::vector<std::uint64_t>;
/// Gives the tensor of a name and shape; the reference lives until the third call after it, long
/// enough to stack queries, keys and values.
using TensorSource = std::function<const StoredTensor&(const std::string&, const Shape&)>;

PackedMatrix pack_one(const StoredTensor& matrix) {
  const StoredTensor* parts[] = {&matrix};
  return pack_matrices(parts);
}

DeviceMemory<float> upload_vector(const StoredTensor& vector) {
  return DeviceMemory<float>(std::span<const float>(read_vector(vector)));
}

LayerWeights build_layer(const TransformerConfig& config, const std::string& prefix,
                         const TensorSource& tensor) {
  const std::uint64_t hidden = config.hidden_size;
  const std::uint64_t inner = config.intermediate_size;
  const std::uint64_t query = config.query_size();
  const std::uint64_t key_value = config.key_value_size();
  LayerWeights layer;
  layer.input_norm = upload_vector(tensor(prefix + "input_layernorm.weight", {hidden}));
  layer.query_norm = upload_vector(tensor(prefix + "self_attn.q_norm.weight", {config.head_dim}));
  layer.key_norm = upload_vector(tensor(prefix + "self_attn.k_norm.weight", {config.head_dim}));
  layer.post_attention_norm =
      upload_vector(tensor(prefix + "post_attention_layernorm.weight", {hidden}));
  const StoredTensor* attention[] = {
      &tensor(prefix + "self_attn.q_proj.weight", {query, hidden}),
      &tensor(prefix + "self_attn.k_proj.weight", {key_value, hidden}),
      &tensor(prefix + "self_attn.v_proj.weight", {key_value, hidden})};
  layer.query_key_value = pack_matrices(attention);
  layer.attention_output = pack_one(tensor(prefix + "self_attn.o_proj.weight", {hidden, query}));
  const StoredTensor* gate_up[] = {&tensor(prefix + "mlp.gate_proj.weight", {inner, hidden}),
                                   &tensor(prefix + "mlp.up_proj.weight", {inner, hidden})};
  layer.gate_up = pack_matrices(gate_up);
  layer.down = pack_one(tensor(prefix + "mlp.down_proj.weight", {hidden, inner}));
  return layer;
}

TransformerWeights build_weights(const TransformerConfig& config, const TensorSource& tensor) {
  const std::uint64_t vocabulary = config.vocab_size;
  const std::uint64_t hidden = config.hidden_size;
  TransformerWeights weights;
  weights.embedding = pack_one(tensor("model.embed_tokens.weight", {vocabulary, hidden}));
  for (std::size_t layer = 0; layer < config.num_hidden_layers; ++layer) {
    weights.layers.push_back(
        build_layer(config, "model.layers." + std::to_string(layer) + ".", tensor));
  }
  weights.final_norm = upload_vector(tensor("model.norm.weight", {hidden}));
  if (!config.tie_word_embeddings) {
    weights.head = pack_one(tensor("lm_head.weight", {vocabulary, hidden}));
  }
  return weights;
}

/// Tensors that some exporters write and the architecture computes or ties itself.
bool is_redundant(const std::string& name, const TransformerConfig& config) {
  return (name == "lm_head.weight" && config.tie_word_embeddings) ||
         name.ends_with("rotary_emb.inv_freq");
}

/// A bijection of 64-bit words whose output passes for random (the finaliser of SplitMix64).
std::uint64_t scramble(std::uint64_t word) {
  word += 0x9E3779B97F4A7C15ULL;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
  return word ^ (word >> 31);
}

/// Makes tensors up, one key of `scramble` each.
class RandomTensors {
 public:
  explicit RandomTensors(std::uint64_t seed) : key_(scramble(seed)) {}

  const StoredTensor& operator()(const std::string& name, const Shape& shape) {
    key_ = scramble(key_);
    const bool is_vector = shape.size() == 1;
    std::size_t size = 1;
    for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
    // A power of two near 2 / sqrt(inputs): a variance between 1/3 and 4/3 of 1 / inputs.
    float scale = 1.0f;
    if (!is_vector) {
      for (std::uint64_t inputs = shape[1]; inputs > 4; inputs /= 4) scale *= 0.5f;
    }
    auto& made = made_[next_++ % made_.size()];
    made.values.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      // A whole number in [-2^23, 2^23), which a float32 holds exactly.
      const auto word =
          static_cast<std::int64_t>(scramble(key_ + i) >> 40) - (std::int64_t{1} << 23);
      const float unit = static_cast<float>(word) * 0x1p-23f;
      made.values[i] = is_vector ? 1.0f + 0.5f * unit : scale * unit;
    }
    made.tensor = {name, "F32", shape, std::as_bytes(std::span<const float>(made.values)),
                   "random weights"};
    return made.tensor;
  }

 private:
  struct Made {
    std::vector<float> values;
    StoredTensor tensor;
  };
  std::uint64_t key_;
  std::vector<Made> made_ = std::vector<Made>(3);
  std::size_t next_ = 0;
};

}  // namespace

TransformerWeights load_weights(const TransformerConfig& config, const Checkpoint& checkpoint) {
  std::set<std::string> used;
  auto weights = build_weights(
      config, [&](const std::string& name, const Shape& shape) -> const StoredTensor& {
        used.insert(name);
        return checkpoint.tensor(name, shape);
      });
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (!used.contains(name) && !is_redundant(name, config)) {
      throw BadInput(tensor.file + ", tensor " + in_quotes(name),
                     "is not one that the model of config.json would use",
                     "use the config.json that belongs to these weights");
    }
  }
  return weights;
}

TransformerWeights random_weights(const TransformerConfig& config, std::uint64_t seed) {
  return build_weights(config, RandomTensors(seed));
}

}  // namespace tempera::gpu
