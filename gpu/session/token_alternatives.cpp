#include "gpu/session/token_alternatives.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace tempera::gpu {
namespace {

constexpr std::array base_power{1.0};
constexpr std::size_t tokens_of_pass = 512;

/// The `count` tokens of largest logit, none that is forbidden.
std::vector<TokenId> largest(std::span<const float> logits, std::size_t count) {
  std::vector<TokenId> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), TokenId{0});
  count = std::min(count, tokens.size());
  std::partial_sort(
      tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count), tokens.end(),
      [&](TokenId a, TokenId b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  tokens.resize(count);
  std::erase_if(tokens, [&](TokenId token) {
    return logits[token] == -std::numeric_limits<float>::infinity();
  });
  return tokens;
}

}  // namespace

TextScoring::TextScoring(LanguageModel& model, RowLottery& rows, std::vector<TokenId> tokens,
                         std::size_t likeliest, std::size_t positions)
    : model_(model),
      rows_(rows),
      tokens_(std::move(tokens)),
      likeliest_(likeliest),
      positions_(positions),
      text_(model.empty_cache()),
      scores_(tokens_.size() - 1) {}

std::size_t TextScoring::cache_bytes(const LanguageModel& model, std::size_t tokens,
                                     std::size_t positions) {
  // A fork inside a page comes to hold a copy of that page, or all after a checkpoint.
  return model.cache_bytes(tokens) +
         std::min(tokens, positions) * model.cache_bytes(model.most_unshared_tokens());
}

bool TextScoring::step() {
  if (text_->length() + 1 < tokens_.size())
    compute_text();
  else
    score_positions();
  return scored_ < scores_.size();
}

void TextScoring::compute_text() {
  const auto rest = std::span(tokens_).first(tokens_.size() - 1).subspan(text_->length());
  const Pass pass{text_.get(), rest.first(std::min(tokens_of_pass, rest.size()))};
  model_.next_logits(std::span(&pass, 1), logits_);
}

void TextScoring::score_positions() {
  const std::size_t vocabulary = model_.vocabulary_size();
  const std::size_t size = std::min(positions_, scores_.size() - scored_);
  std::vector<std::unique_ptr<Cache>> prefixes;
  std::vector<Pass> passes;
  for (std::size_t i = 0; i < size; ++i) {
    prefixes.push_back(text_->fork(scored_ + i + 1));
    passes.push_back({prefixes.back().get(), {}});
  }
  model_.next_logits(passes, logits_);

  const auto host = logits_.download(0, size * vocabulary);
  std::vector<std::vector<TokenId>> asked(size);  // of each row, its own token last
  std::size_t most = 0;
  for (std::size_t i = 0; i < size; ++i) {
    asked[i] = largest(std::span(host).subspan(i * vocabulary, vocabulary),
                       std::max<std::size_t>(1, likeliest_));
    asked[i].push_back(tokens_[scored_ + i + 1]);
    most = std::max(most, asked[i].size());
  }
  for (std::size_t j = 0; j < most; ++j) {
    std::vector<RowToken> given(size);
    for (std::size_t i = 0; i < size; ++i) {
      TokenId token = asked[i][std::min(j, asked[i].size() - 1)];
      // A forbidden token has no score; the likeliest one is in its row's place.
      if (host[i * vocabulary + token] == -std::numeric_limits<float>::infinity())
        token = asked[i].front();
      given[i] = {base_power, token};
    }
    const auto scored = rows_.score(logits_, vocabulary, given);
    for (std::size_t i = 0; i < size; ++i) {
      TokenAlternatives& score = scores_[scored_ + i];
      const TokenId own = asked[i].back();
      if (j + 1 < asked[i].size()) {
        if (score.likeliest.size() < likeliest_)
          score.likeliest.emplace_back(given[i].token, scored[i].log_p);
      } else if (j + 1 == asked[i].size()) {
        score.log_p =
            given[i].token == own ? scored[i].log_p : -std::numeric_limits<double>::infinity();
      }
    }
  }
  scored_ += size;
}

}  // namespace tempera::gpu
