#include "gpu/transformer/architectures/qwen3.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/input/bad_input.hpp"
#include "gpu/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

// ---- configuration

namespace {

constexpr std::uint64_t largest_vocabulary_size = std::uint64_t{1} << 18;
constexpr std::uint64_t largest_width = std::uint64_t{1} << 17;
constexpr std::uint64_t largest_position = std::uint64_t{1} << 24;

void require_consistent(const Qwen3Config& config, const std::string& where) {
  if (config.num_key_value_heads == 0 ||
      config.num_attention_heads % config.num_key_value_heads != 0) {
    throw BadInput(where, "\"num_key_value_heads\" does not divide \"num_attention_heads\"",
                   "give a divisor");
  }
  if (config.head_dim == 0 || config.head_dim % 2 != 0) {
    throw BadInput(where, "\"head_dim\" is " + std::to_string(config.head_dim),
                   "rotary positions need an even number above 0");
  }
}

/// How a row of queries, keys and values lies in its buffer.
AttentionShape attention_shape(const Qwen3Config& config) {
  const std::size_t query = padded(config.num_attention_heads * config.head_dim);
  const std::size_t key_value = padded(config.num_key_value_heads * config.head_dim);
  return {config.num_attention_heads, config.num_key_value_heads, config.head_dim, query,
          query + key_value,          query + 2 * key_value};
}

}  // namespace

Qwen3Config parse_qwen3_config(std::string_view text, const std::string& where) {
  const auto document = parse_json(text, where);
  const JsonObject json(document, where);
  require_text(json, "model_type", Qwen3::model_type);
  require_unquantised(json);
  require_text(json, "hidden_act", "silu");
  require_false(json, "attention_bias");
  require_full_attention(json);

  Qwen3Config config;
  config.vocab_size = json.whole_number("vocab_size", 1, largest_vocabulary_size);
  config.hidden_size = json.whole_number("hidden_size", 1, largest_width);
  config.intermediate_size = json.whole_number("intermediate_size", 1, largest_width);
  config.num_hidden_layers = json.whole_number("num_hidden_layers", 1, 1024);
  config.num_attention_heads = json.whole_number("num_attention_heads", 1, 1024);
  config.num_key_value_heads =
      json.whole_number("num_key_value_heads", 1, config.num_attention_heads);
  config.head_dim = json.has("head_dim") ? json.whole_number("head_dim", 1, 1024)
                                         : config.hidden_size / config.num_attention_heads;
  config.max_position_embeddings =
      json.whole_number("max_position_embeddings", 1, largest_position);
  config.rms_norm_eps = json.positive_number("rms_norm_eps");
  config.rope_theta = read_rope_theta(json);
  config.tie_word_embeddings = json.boolean_or("tie_word_embeddings", false);
  require_consistent(config, json.where());
  config.eos_token_ids = read_terminal_tokens(json, config.vocab_size);
  return config;
}

Qwen3Config read_qwen3_config(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  auto config = parse_qwen3_config(read_text_file(file), file.string());
  config.eos_token_ids =
      read_generation_terminal_tokens(folder, config.vocab_size, std::move(config.eos_token_ids));
  return config;
}

// ---- weights

Qwen3::Qwen3(Qwen3Config config, TensorSource& tensors, const Kernels& kernels)
    : config_(std::move(config)),
      kernels_(kernels),
      pages_{config_.num_hidden_layers, config_.num_key_value_heads, config_.head_dim,
             config_.hidden_size, kernels.arithmetic()},
      angles_(config_.rope_theta, config_.head_dim, config_.max_position_embeddings),
      normed_(kernels.arithmetic()),
      attended_(kernels.arithmetic()),
      gated_(kernels.arithmetic()) {
  require_consistent(config_, "Qwen3's configuration");
  attention_ = attention_shape(config_);
  kernels_.require_attention(attention_, "Qwen3's configuration");

  embedding_ = tensors.matrix("model.embed_tokens.weight", config_.vocab_size, config_.hidden_size,
                              kernels_.arithmetic());
  for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
    layers_.push_back(load_layer("model.layers." + std::to_string(layer) + ".", tensors));
  }
  final_norm_ = tensors.vector("model.norm.weight", config_.hidden_size);
  if (!config_.tie_word_embeddings) {
    head_ = tensors.matrix("lm_head.weight", config_.vocab_size, config_.hidden_size,
                           kernels_.arithmetic());
  }
}

Qwen3::Layer Qwen3::load_layer(const std::string& prefix, TensorSource& tensors) const {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t inner = config_.intermediate_size;
  const std::size_t query = config_.num_attention_heads * config_.head_dim;
  const std::size_t key_value = config_.num_key_value_heads * config_.head_dim;
  const Arithmetic arithmetic = kernels_.arithmetic();
  Layer layer;
  layer.input_norm = tensors.vector(prefix + "input_layernorm.weight", hidden);
  layer.query_norm = tensors.vector(prefix + "self_attn.q_norm.weight", config_.head_dim);
  layer.key_norm = tensors.vector(prefix + "self_attn.k_norm.weight", config_.head_dim);
  layer.post_attention_norm = tensors.vector(prefix + "post_attention_layernorm.weight", hidden);
  layer.query_key_value = tensors.stacked({{prefix + "self_attn.q_proj.weight", query},
                                           {prefix + "self_attn.k_proj.weight", key_value},
                                           {prefix + "self_attn.v_proj.weight", key_value}},
                                          hidden, arithmetic);
  layer.attention_output =
      tensors.matrix(prefix + "self_attn.o_proj.weight", hidden, query, arithmetic);
  layer.gate_up = tensors.stacked(
      {{prefix + "mlp.gate_proj.weight", inner}, {prefix + "mlp.up_proj.weight", inner}}, hidden,
      arithmetic);
  layer.down = tensors.matrix(prefix + "mlp.down_proj.weight", hidden, inner, arithmetic);
  return layer;
}

std::unique_ptr<Architecture> load_qwen3(const std::filesystem::path& folder,
                                         const Kernels& kernels) {
  const auto config = read_qwen3_config(folder);
  kernels.require_attention(attention_shape(config), (folder / "config.json").string());
  const TensorFiles files(folder);
  FolderTensors tensors(files);
  auto model = std::make_unique<Qwen3>(config, tensors, kernels);
  // Some exporters write what the architecture ties or computes itself.
  tensors.require_all_used([&](const std::string& name) {
    return (name == "lm_head.weight" && config.tie_word_embeddings) ||
           name.ends_with("rotary_emb.inv_freq");
  });
  return model;
}

// ---- forward pass

void Qwen3::make_room(std::size_t rows) {
  states_.ensure_size(rows * config_.hidden_size);
  normed_.ensure_size(rows * config_.hidden_size);
  query_key_value_.ensure_size(rows * attention_.row_floats);
  attended_.ensure_size(rows * attention_.heads * attention_.head_dim);
  gated_.ensure_size(rows * config_.intermediate_size);
}

void Qwen3::forward(const TokenRows& batch, const PageMemory& memory) {
  make_room(batch.rows);
  const std::size_t rows = batch.rows;
  const std::size_t hidden = config_.hidden_size;
  const std::size_t inner = config_.intermediate_size;
  const auto epsilon = static_cast<float>(config_.rms_norm_eps);
  const RotaryTables rotary = angles_.up_to(batch.context);
  float* const states = states_.data();
  const ProductInputs normed = normed_.view();
  float* const query_key_value = query_key_value_.data();
  const ProductInputs attended = attended_.view();
  const ProductInputs gated = gated_.view();

  kernels_.embed(embedding_.view(), batch, states);
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const Layer& layer = layers_[index];
    const PagePart keys = pages_.keys(memory, index);
    const PagePart values = pages_.values(memory, index);

    kernels_.normalize(states, layer.input_norm.data(), rows, hidden, epsilon, normed);
    kernels_.multiply(layer.query_key_value.view(), normed, rows, attention_.row_floats,
                      query_key_value);
    kernels_.rotate_into_pages(attention_, layer.query_norm.data(), layer.key_norm.data(), epsilon,
                               rotary, batch, keys, values, query_key_value);
    kernels_.attend(attention_, query_key_value, batch, keys, values, attended);
    kernels_.multiply_and_add(layer.attention_output.view(), attended, rows, hidden, states);

    kernels_.normalize(states, layer.post_attention_norm.data(), rows, hidden, epsilon, normed);
    kernels_.multiply_gated(layer.gate_up.view(), normed, rows, inner, gated);
    kernels_.multiply_and_add(layer.down.view(), gated, rows, hidden, states);
  }
  kernels_.normalize_into_pages(states, final_norm_.data(), batch, hidden, epsilon,
                                pages_.hidden_states(memory));
}

void Qwen3::logits(const CachedRows& batch, const PageMemory& memory, float* logits) {
  const PackedMatrix& head = head_ ? *head_ : embedding_;
  normed_.ensure_size(batch.rows * config_.hidden_size);
  kernels_.gather_from_pages(batch, config_.hidden_size, pages_.hidden_states(memory),
                             normed_.view());
  kernels_.multiply(head.view(), normed_.view(), batch.rows, config_.vocab_size, logits);
}

}  // namespace tempera::gpu
