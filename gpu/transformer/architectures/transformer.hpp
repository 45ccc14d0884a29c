#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "gpu/model/language_model.hpp"
#include "gpu/transformer/architectures/transformer_config.hpp"
#include "gpu/transformer/architectures/weights.hpp"
#include "gpu/transformer/cache/page_pool.hpp"
#include "gpu/transformer/cache/paged_cache.hpp"
#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// A decoder of the Qwen3 architecture: token embedding; per layer grouped-query attention with
/// RMSNorm on every head's query and key and rotary positions, then SwiGLU; final RMSNorm and head.
/// All arithmetic is float32 in a fixed order, whatever the dtype of the weights.
///
/// Calls on one transformer and its caches must not overlap; a call itself runs in parallel.
class Transformer : public LanguageModel {
 public:
  /// The model of a folder in Hugging Face form: config.json, generation_config.json where it is
  /// there, and model.safetensors or model.safetensors.index.json with its files.
  /// Throws BadInput naming file, place and remedy.
  static std::unique_ptr<Transformer> load(const std::filesystem::path& folder);
  /// A model with the weights of random_weights(config, seed), the same bits everywhere.
  static std::unique_ptr<Transformer> random(const TransformerConfig& config, std::uint64_t seed);

  const TransformerConfig& config() const { return config_; }
  /// The tokens that end a text, ascending; may be empty.
  std::span<const TokenId> terminal_tokens() const { return config_.eos_token_ids; }
  /// The longest text, in tokens.
  std::size_t max_position() const { return config_.max_position_embeddings; }

  std::size_t vocabulary_size() const override { return config_.vocab_size; }
  std::unique_ptr<Cache> empty_cache() const override;

  /// As LanguageModel says. A token already in a cache is not computed again: where all of them
  /// are, the head alone runs. Throws BadInput for an empty or too long text and for a token
  /// outside the vocabulary, before anything is computed; std::invalid_argument for a cache of
  /// another model, one that is longer than its text, or one that occurs in two passes.
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override;

  /// rows[position * vocabulary_size + token] = the logit of `token` after tokens[0 .. position],
  /// for every position: the bits that next_logits gives. rows grows where needed.
  /// Throws BadInput as next_logits does.
  void logits_at_every_position(std::span<const TokenId> tokens, DeviceMemory<float>& rows);

  /// How many tokens have gone through the layers so far.
  std::uint64_t tokens_computed() const { return tokens_computed_; }
  /// The pages of all caches, to see how many are free.
  const PagePool& pages() const { return *pool_; }

 private:
  /// A record whose uncached tokens a call computes.
  struct Extension {
    PagedCache* cache;
    std::span<const TokenId> tokens;
  };
  /// A cached token whose final hidden state the head reads.
  struct HeadRow {
    std::uint32_t page;
    std::uint32_t slot;
  };

  Transformer(TransformerConfig config, TransformerWeights weights);
  void require_valid(std::span<const TokenId> tokens) const;
  Extension extension_of(const Pass& pass) const;
  /// Computes the uncached tokens of every extension into its cache.
  void extend(std::span<const Extension> extensions);
  void make_room(std::span<const Extension> extensions);
  void ensure_rotary_tables(std::size_t positions);
  /// Runs the layers over rows whose plan is uploaded.
  void run_layers(const TokenRows& batch);
  void run_head(std::span<const HeadRow> head_rows, DeviceMemory<float>& rows);

  TransformerConfig config_;
  TransformerWeights weights_;
  std::shared_ptr<PagePool> pool_;
  std::uint64_t tokens_computed_ = 0;

  std::size_t rotary_positions_ = 0;
  DeviceMemory<float> cosines_;  // [rotary_positions_, head_dim / 2]
  DeviceMemory<float> sines_;    // [rotary_positions_, head_dim / 2]

  // Room for one launch, kept between calls; [rows of the largest launch so far, ...].
  DeviceMemory<std::uint32_t> plan_;
  DeviceMemory<float> states_;           // hidden_size
  DeviceMemory<float> normed_;           // hidden_size
  DeviceMemory<float> query_key_value_;  // AttentionShape::row_floats
  DeviceMemory<float> attended_;         // query_size
  DeviceMemory<float> gated_;            // intermediate_size
};

}  // namespace tempera::gpu
