#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// What a model thinks of one given token of a text.
struct TokenAlternatives {
  /// log p0(x_t | x_<t), `eq:theory-absorbing-law`; -infinity for a token that the model forbids.
  double log_p = 0.0;
  /// The likeliest tokens at this position with their log p0, most likely first, the smaller number
  /// first of equals.
  std::vector<std::pair<TokenId, double>> likeliest;
};

/// Scores x_2 … x_n given those before them, one forward pass at a time. The bits of log p0 are
/// those that score_tokens gives and that a sampler's record keeps.
///
/// The text is computed once, in passes of 512 tokens; the logits at each position come from its
/// cache, `positions` at a time.
class TextScoring {
 public:
  static constexpr std::size_t most_positions = 64;

  /// model and rows must outlive it. Range: positions >= 1.
  /// @pre tokens.size() >= 2, every token below the vocabulary's size
  TextScoring(LanguageModel& model, RowLottery& rows, std::vector<TokenId> tokens,
              std::size_t likeliest, std::size_t positions = most_positions);

  /// Makes one forward pass. Returns whether another is needed.
  /// @throw ModelError for logits that are no numbers
  bool step();
  /// After the last step: index t - 2 holds position t.
  const std::vector<TokenAlternatives>& scores() const { return scores_; }

  /// The most bytes of caches that a text of so many tokens needs.
  static std::size_t cache_bytes(const LanguageModel& model, std::size_t tokens,
                                 std::size_t positions = most_positions);

 private:
  void compute_text();
  void score_positions();

  LanguageModel& model_;
  RowLottery& rows_;
  std::vector<TokenId> tokens_;
  std::size_t likeliest_;
  std::size_t positions_;
  std::unique_ptr<Cache> text_;  ///< of all tokens but the last, whose own logits are not asked for
  DeviceMemory<float> logits_;
  std::size_t scored_ = 0;  ///< positions
  std::vector<TokenAlternatives> scores_;
};

}  // namespace tempera::gpu
