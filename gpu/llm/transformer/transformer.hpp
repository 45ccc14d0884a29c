#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu/core/model/language_model.hpp"
#include "gpu/llm/transformer/architectures/architecture.hpp"
#include "gpu/llm/transformer/cache/page_pool.hpp"
#include "gpu/llm/transformer/cache/paged_cache.hpp"
#include "gpu/llm/transformer/cache/state_shape.hpp"
#include "gpu/llm/transformer/default_kernels.hpp"
#include "gpu/llm/transformer/kernels/token_step.hpp"

namespace tempera::gpu {

/// A transformer of any architecture as a LanguageModel: checks texts, keeps their pages, cuts
/// batches into launches and has the architecture compute what no cache holds yet.
///
/// It computes on the device that was current when it was made, whichever is current later. Calls
/// on one transformer and its caches must not overlap; a call itself runs in parallel.
class Transformer : public LanguageModel {
 public:
  /// The model of a GGUF file, or of a folder in Hugging Face form: config.json, and
  /// model.safetensors or model.safetensors.index.json with its files.
  /// @throw BadInput naming file, place and remedy, as load_architecture
  static std::unique_ptr<Transformer> load(
      const std::filesystem::path& folder,
      const std::shared_ptr<const Kernels>& kernels = make_default_kernels(),
      std::optional<RopeFactors> rope_factors = std::nullopt);
  /// The same with kernels that outlive it.
  static std::unique_ptr<Transformer> load(const std::filesystem::path& folder,
                                           const Kernels& kernels,
                                           std::optional<RopeFactors> rope_factors = std::nullopt);
  /// kernels: those of the architecture, if they are to live as long as the model.
  explicit Transformer(std::unique_ptr<Architecture> architecture,
                       std::shared_ptr<const Kernels> kernels = nullptr);

  /// The form of the kernels that it computes with.
  const Kernels& kernels() const { return architecture_->kernels(); }
  /// The tokens that its file names as ends of a text, ascending; may be empty.
  std::span<const TokenId> named_ends() const { return architecture_->named_ends(); }
  /// What a user has to know of a choice that was made for the model; may be empty.
  std::string remark() const { return architecture_->remark(); }
  /// The set of rotary factors that it computes with, if it has two.
  std::optional<RopeFactors> rope_factors() const { return architecture_->rope_factors(); }
  /// The work of the matrices in one step of one record.
  MatrixWork step_work() const { return architecture_->step_work(); }
  /// The longest text, in tokens.
  std::size_t max_position() const { return architecture_->max_position(); }

  std::size_t vocabulary_size() const override { return architecture_->vocabulary_size(); }
  std::unique_ptr<Cache> empty_cache() const override;
  Device device() const override { return device_; }
  std::size_t cache_bytes(std::size_t tokens) const override {
    return (tokens + page_tokens - 1) / page_tokens * pool_->page_bytes() +
           (tokens + state_tokens - 1) / state_tokens * architecture_->state_layout().bytes();
  }
  std::size_t most_unshared_tokens() const override { return states_ ? state_tokens : 1; }
  std::size_t most_cache_bytes() const override;

  /// The logits after each pass. If a pass adds no token to its cache, the head alone runs.
  /// @throw BadInput before anything is computed, for an empty or too long text and for a token
  /// outside the vocabulary
  /// @throw Bug for a cache of another model, or one that occurs in two passes
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override;

  /// If the kernels have a TokenStep, the rows are CUDA's and the lottery's words are those of
  /// addresses: the last token of each drawn pass and the draw are then one step of the device;
  /// tokens before it, and passes without a draw, are computed first.
  std::unique_ptr<FusedDraw> fused_draw(RowLottery& rows, Lottery& lottery) override;

  /// rows[position * vocabulary_size + token] = the logit of `token` after tokens[0 .. position],
  /// for every position: the bits that next_logits gives. rows grows if needed.
  /// @throw BadInput as next_logits does.
  void logits_at_every_position(std::span<const TokenId> tokens, DeviceMemory<float>& rows);

  /// How many tokens have gone through the layers so far, replays apart.
  std::uint64_t tokens_computed() const { return tokens_computed_; }
  /// How many tokens did so once more, from a checkpoint of a recurrent state to where a record
  /// begins anew: fewer than state_tokens for each time that one does.
  std::uint64_t tokens_replayed() const { return tokens_replayed_; }
  /// The pages of all caches, to see how many are free.
  const PagePool& pages() const { return *pool_; }
  /// Makes room for this many pages at once, if it is known beforehand how many it takes.
  /// @throw std::bad_alloc if the device's memory has none
  void reserve_pages(std::size_t pages) { pool_->make_room(pages); }

 private:
  /// Draws in steps of the device.
  class DrawInStep;
  std::vector<ScoredToken> draw_in_step(std::span<const Pass> passes,
                                        std::span<const RowDraw> draws);

  /// A cache and the tokens that a call adds to it.
  struct Extension {
    PagedCache* cache;
    std::span<const TokenId> tokens;
  };
  /// Where a cached token is.
  struct CachedToken {
    std::uint32_t page;
    std::uint32_t slot;
  };

  void require_valid(std::span<const TokenId> tokens, std::size_t cached) const;
  Extension extension_of(const Pass& pass) const;
  /// The extensions of all passes. @throw Bug for a cache that occurs in two of them
  std::vector<Extension> extensions_of(std::span<const Pass> passes) const;
  /// Computes what its cache has to replay and the tokens of every extension into its cache.
  void extend(std::span<const Extension> extensions);
  void make_room(std::span<const Extension> extensions);
  void copy_pages(std::span<const PagedCache::PageCopy> copies, PagePool& pool);
  /// Makes room in the caches; returns the copies that this asks for.
  std::vector<PagedCache::PageCopy> reserve(std::span<const Extension> extensions);
  /// The same of recurrent states; none if the model has none.
  std::vector<PagedCache::PageCopy> reserve_states(std::span<const Extension> extensions);
  void run_head(std::span<const CachedToken> tokens, DeviceMemory<float>& rows);

  const Device device_ = current_device();
  std::shared_ptr<const Kernels> kernels_;  // first, for all else computes with them
  std::unique_ptr<Architecture> architecture_;
  std::shared_ptr<PagePool> pool_;
  std::shared_ptr<PagePool> states_;  // null if the architecture has none
  std::uint64_t tokens_computed_ = 0;
  std::uint64_t tokens_replayed_ = 0;
  std::size_t most_held_bytes_ = 0;     // of pages and states together
  DeviceMemory<std::uint32_t> launch_;  // what one launch needs to know, kept between calls
  std::unique_ptr<TokenStep> step_;     // null if the kernels have none
  // The page of the step's rows that compute nothing.
  std::optional<std::uint32_t> scratch_page_;
  std::optional<std::uint32_t> scratch_state_;
};

}  // namespace tempera::gpu
