#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// The block extension or proposal that a token was drawn for: its address without the position.
struct DrawnFor {
  std::uint64_t seed = 0;
  std::uint32_t prompt_index = 0;
  std::uint32_t sample_index = 0;
  std::uint16_t rung = 0;
  std::uint32_t turn = 0;
  Purpose purpose = Purpose::extension_token;

  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const DrawnFor&, const DrawnFor&) = default;
};

/// A token that was drawn is not the one that was recorded.
class TokenDiffers final : public std::exception {
 public:
  TokenDiffers(const Draw& at, std::optional<TokenId> of_record, std::optional<TokenId> now)
      : draw(at), recorded(of_record), drawn(now) {}
  const char* what() const noexcept override { return "a drawn token is not the recorded one"; }

  Draw draw;
  std::optional<TokenId> recorded;  ///< none: it is not recorded
  std::optional<TokenId> drawn;     ///< none: it was not drawn
};

/// A model that knows what will be drawn. At the first token of a proposal or block extension it
/// computes all of its recorded tokens in one pass, as a prompt is, and draws after each of them at
/// its address: what follows is there when it is asked for. The tokens, scores and logits are those
/// of the model itself, bit for bit, since these do not depend on how tokens were split over
/// passes.
class ReplayModel final : public LanguageModel {
 public:
  /// recorded: the tokens of every extension and proposal that drew any, in their order. Tokens
  /// after a terminal one, or beyond the horizon, are never drawn.
  /// @param model must outlive it
  ReplayModel(LanguageModel& model, std::vector<TokenId> terminal, std::size_t horizon,
              std::map<DrawnFor, std::vector<TokenId>> recorded);

  std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::unique_ptr<Cache> empty_cache() const override;
  Device device() const override { return model_.device(); }
  std::size_t cache_bytes(std::size_t tokens) const override { return model_.cache_bytes(tokens); }
  std::size_t most_unshared_tokens() const override { return model_.most_unshared_tokens(); }
  std::size_t most_cache_bytes() const override { return model_.most_cache_bytes(); }
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override;
  /// Draws of another lottery than that of addresses are not foreseen.
  std::unique_ptr<FusedDraw> fused_draw(RowLottery& rows, Lottery& lottery) override;

  /// Passes through the model so far, and tokens that it computed in them.
  std::uint64_t passes() const { return passes_; }
  std::uint64_t computed_tokens() const { return computed_tokens_; }

 private:
  class Ahead;
  struct Recorded {
    std::vector<TokenId> tokens;
    std::size_t first = 0;            ///< position of the first, t − 1
    std::vector<ScoredToken> scored;  ///< what is drawn at each, once the first was asked for
  };

  LanguageModel& model_;
  std::vector<TokenId> terminal_;
  std::size_t horizon_;
  std::map<DrawnFor, Recorded> recorded_;
  std::uint64_t passes_ = 0;
  std::uint64_t computed_tokens_ = 0;
};

}  // namespace tempera::gpu
