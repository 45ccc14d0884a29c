#include "gpu/llm/transformer/architectures/decoder.hpp"

#include <utility>

namespace tempera::gpu {

namespace {

DecoderConfig consistent(const char* model_type, DecoderConfig config) {
  require_consistent(config, "the configuration of a " + std::string(model_type) + " model");
  return config;
}

/// The arithmetic as whose weights an embedding is packed. Whole numbers are for sums; what is only
/// looked up stays what it is.
Arithmetic embedded_as(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::integer ? Arithmetic::float32 : arithmetic;
}

/// A matrix with a row for each token, of those that the file stores.
PackedMatrix token_matrix(TensorSource& tensors, const char* name, const DecoderConfig& config,
                          Arithmetic arithmetic) {
  return tensors.stacked({{name, config.vocab_size, 0, config.stored_vocabulary}},
                         config.hidden_size, arithmetic);
}

}  // namespace

Decoder::Decoder(const char* model_type, const DecoderConfig& config, TensorSource& tensors,
                 const Kernels& kernels)
    : Decoder(model_type, config, {config.num_hidden_layers, attention_shape(config)}, tensors,
              kernels) {}

Decoder::Decoder(const char* model_type, DecoderConfig config, const AttentionLayers& attention,
                 TensorSource& tensors, const Kernels& kernels)
    : config_(consistent(model_type, std::move(config))),
      kernels_(kernels),
      pages_{attention.layers, config_.num_key_value_heads, config_.head_dim, config_.hidden_size,
             kernels.arithmetic()},
      attention_(attention.shape),
      angles_(config_.rope_theta,
              attention_.rotary_dim == 0 ? config_.head_dim : attention_.rotary_dim,
              config_.max_position_embeddings, config_.rope_factors, config_.rope_magnitude),
      normed_(kernels.arithmetic()),
      attended_(kernels.arithmetic()),
      gated_(kernels.arithmetic()) {
  kernels_.require_attention(attention_,
                             "the configuration of a " + std::string(model_type) + " model");
  embedding_ = token_matrix(tensors, "model.embed_tokens.weight", config_,
                            embedded_as(kernels_.arithmetic()));
  before_layers_ = tensors.packed();
}

void Decoder::read_head(TensorSource& tensors) {
  read_head(tensors, tensors.vector("model.norm.weight", config_.hidden_size));
}

void Decoder::read_head(TensorSource& tensors, DeviceMemory<float> final_norm) {
  final_norm_ = std::move(final_norm);
  if (!config_.tie_word_embeddings || embedded_as(kernels_.arithmetic()) != kernels_.arithmetic()) {
    head_ = token_matrix(
        tensors, config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight",
        config_, kernels_.arithmetic());
  }
  step_work_ = tensors.packed();
  step_work_ -= before_layers_;
  step_work_ -= idle_work_;
  // A step reads one row of an embedding that is no head.
  if (!head_) step_work_ += work_of(embedding_);
}

Decoder::Launch Decoder::begin(const TokenRows& batch) {
  states_.ensure_size(batch.rows * config_.hidden_size);
  normed_.ensure_size(batch.rows * config_.hidden_size);
  query_key_value_.ensure_size(batch.rows * attention_.row_floats);
  attended_.ensure_size(batch.rows * query_size());
  gated_.ensure_size(batch.rows * config_.intermediate_size);
  kernels_.embed(embedding_.view(), batch, states_.data());
  return {angles_.up_to(batch.context), states_.data(),   normed_.view(),
          query_key_value_.data(),      attended_.view(), gated_.view()};
}

void Decoder::forward(const TokenRows& batch, const PageMemory& memory) {
  run_layers(batch, memory, begin(batch));
  kernels_.normalize_into_pages(states_.data(), final_norm_.data(), batch, config_.hidden_size,
                                epsilon(), pages_.hidden_states(memory));
}

void Decoder::run_head(std::size_t rows, const LogitRows& logits) {
  const PackedMatrix& head = head_ ? *head_ : embedding_;
  kernels_.multiply_head(head.view(), normed_.view(), rows, config_.vocab_size, logits);
}

void Decoder::logits(const CachedRows& batch, const PageMemory& memory, const LogitRows& logits) {
  normed_.ensure_size(batch.rows * config_.hidden_size);
  kernels_.gather_from_pages(batch, config_.hidden_size, pages_.hidden_states(memory),
                             normed_.view());
  run_head(batch.rows, logits);
}

void Decoder::step(const TokenRows& computed, const CachedRows& asked, const PageMemory& memory,
                   const LogitRows& logits) {
  run_layers(computed, memory, begin(computed));
  kernels_.normalize_and_gather(states_.data(), final_norm_.data(), computed, asked,
                                config_.hidden_size, epsilon(), pages_.hidden_states(memory),
                                normed_.view());
  run_head(computed.rows, logits);
}

}  // namespace tempera::gpu
