#include "gpu/session/token_alternatives.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>

#include "gpu/lottery/rows/row_lottery.hpp"

namespace tempera::gpu {
namespace {

constexpr std::array base_power{1.0};

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

/// A cache of all tokens.
std::unique_ptr<Cache> computed(LanguageModel& model, std::span<const TokenId> tokens,
                                DeviceMemory<float>& logits) {
  constexpr std::size_t chunk = 512;
  auto cache = model.empty_cache();
  while (cache->length() < tokens.size()) {
    const auto rest = tokens.subspan(cache->length());
    const Pass pass{cache.get(), rest.first(std::min(chunk, rest.size()))};
    model.next_logits(std::span(&pass, 1), logits);
  }
  return cache;
}

}  // namespace

std::vector<TokenAlternatives> score_alternatives(LanguageModel& model,
                                                  std::span<const TokenId> tokens,
                                                  std::size_t likeliest, std::size_t batch) {
  const auto rows = make_device_row_lottery();
  const std::size_t vocabulary = model.vocabulary_size();
  DeviceMemory<float> logits;
  // The last token's own logits are not asked for.
  const auto text = computed(model, tokens.first(tokens.size() - 1), logits);

  std::vector<TokenAlternatives> scores(tokens.size() - 1);
  for (std::size_t begin = 0; begin < scores.size(); begin += batch) {
    const std::size_t size = std::min(batch, scores.size() - begin);
    std::vector<std::unique_ptr<Cache>> prefixes;
    std::vector<Pass> passes;
    for (std::size_t i = 0; i < size; ++i) {
      prefixes.push_back(text->fork(begin + i + 1));
      passes.push_back({prefixes.back().get(), {}});
    }
    model.next_logits(passes, logits);

    const auto host = logits.download(0, size * vocabulary);
    std::vector<std::vector<TokenId>> asked(size);  // of each row, its own token last
    std::size_t most = 0;
    for (std::size_t i = 0; i < size; ++i) {
      asked[i] = largest(std::span(host).subspan(i * vocabulary, vocabulary),
                         std::max<std::size_t>(1, likeliest));
      asked[i].push_back(tokens[begin + i + 1]);
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
      const auto scored = rows->score(logits, vocabulary, given);
      for (std::size_t i = 0; i < size; ++i) {
        TokenAlternatives& score = scores[begin + i];
        const TokenId own = asked[i].back();
        if (j + 1 < asked[i].size()) {
          if (score.likeliest.size() < likeliest)
            score.likeliest.emplace_back(given[i].token, scored[i].log_p);
        } else if (j + 1 == asked[i].size()) {
          score.log_p =
              given[i].token == own ? scored[i].log_p : -std::numeric_limits<double>::infinity();
        }
      }
    }
  }
  return scores;
}

}  // namespace tempera::gpu
