// What a model answers of a text: at once, piece by piece, in a batch of forks, and by draws.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

/// Bits of logits, so that == is bitwise, and tokens with their scores.
struct ModelAnswers {
  std::vector<std::uint32_t> after_each_prefix;  // [tokens, vocabulary], of one pass
  std::vector<std::uint32_t> of_a_batch;         // [passes, vocabulary]
  std::vector<ScoredToken> drawn;

  friend bool operator==(const ModelAnswers&, const ModelAnswers&) = default;

  /// Every bit of them.
  std::vector<std::uint64_t> words() const {
    std::vector<std::uint64_t> words(after_each_prefix.begin(), after_each_prefix.end());
    words.insert(words.end(), of_a_batch.begin(), of_a_batch.end());
    for (const ScoredToken& token : drawn) {
      words.push_back(token.id);
      words.push_back(std::bit_cast<std::uint64_t>(token.log_p));
      for (const double z : token.log_z) words.push_back(std::bit_cast<std::uint64_t>(z));
    }
    return words;
  }
};

inline std::vector<std::uint32_t> logit_bits(const DeviceMemory<float>& memory, std::size_t size) {
  const auto values = memory.download(0, size);
  std::vector<std::uint32_t> bits(size);
  std::memcpy(bits.data(), values.data(), size * sizeof(float));
  return bits;
}

/// A record of a batch: a fork of the text, and what it goes on with.
struct Continuation {
  std::size_t length;
  std::vector<TokenId> added;
};

/// Records that go on with the text's own tokens, after a page's end, inside one and just before
/// the text's end, as decode steps and as prompts; and records that go on with others. Two have
/// nothing to compute but the head.
inline std::vector<Continuation> continuations_of(std::span<const TokenId> text) {
  const std::size_t end = text.size();
  const auto own = [&](std::size_t from, std::size_t count) {
    const auto tokens = text.subspan(from, count);
    return Continuation{from, {tokens.begin(), tokens.end()}};
  };
  return {own(end - 2, 1),
          own(16, 1),
          own(16, end - 18),
          own(5, 3),
          own(end - 3, 0),
          own(end - 9, 7),
          {17, {3}},
          {end - 2, {3}},
          {7, {3, 1, 4, 1}},
          {end - 5, {3, 1}},
          own((end - 2) / 16 * 16, 0)};
}

/// Everything that a model answers of a text of more than 27 tokens, whose last one is only
/// looked at. What must be equal within one form of the kernels is required to be: the rows of
/// records that went on with the text's own tokens and those of the text, and draws and those of
/// one host thread from the same logits.
inline ModelAnswers answers_of(Transformer& model, RowLottery& rows,
                               std::span<const TokenId> text) {
  ModelAnswers answers;
  DeviceMemory<float> logits;
  const std::size_t vocabulary = model.vocabulary_size();
  model.logits_at_every_position(text, logits);
  answers.after_each_prefix = logit_bits(logits, text.size() * vocabulary);
  const auto require_row_of_the_text = [&](std::span<const std::uint32_t> row, std::size_t length) {
    const auto expected =
        std::span(answers.after_each_prefix).subspan((length - 1) * vocabulary, vocabulary);
    INFO("after " << length << " tokens");
    REQUIRE(std::equal(row.begin(), row.end(), expected.begin(), expected.end()));
  };
  // A prompt in three pieces: one token, to the first token of the next page, the rest.
  const auto root = model.empty_cache();
  for (const std::size_t length : {std::size_t{1}, std::size_t{17}, text.size() - 2}) {
    const std::vector<Pass> piece{
        {root.get(), text.subspan(root->length(), length - root->length())}};
    model.next_logits(piece, logits);
    require_row_of_the_text(logit_bits(logits, vocabulary), length);
  }
  const auto continuations = continuations_of(text);
  std::vector<std::unique_ptr<Cache>> caches;
  std::vector<Pass> passes;
  for (const Continuation& each : continuations) {
    caches.push_back(root->fork(each.length));
    passes.push_back({caches.back().get(), each.added});
  }
  model.next_logits(passes, logits);
  answers.of_a_batch = logit_bits(logits, passes.size() * vocabulary);
  for (std::size_t row = 0; row < passes.size(); ++row) {
    const auto& [length, added] = continuations[row];
    const auto own = text.subspan(length, added.size());
    if (std::equal(added.begin(), added.end(), own.begin(), own.end()))
      require_row_of_the_text(std::span(answers.of_a_batch).subspan(row * vocabulary, vocabulary),
                              length + added.size());
  }
  // One more token of each, which draws the next; the last record is not asked for one.
  const std::vector<double> powers{1.0, 1.6, 2.5};
  std::vector<RowDraw> draws;
  for (std::uint32_t row = 0; row < passes.size(); ++row) {
    passes[row].tokens = text.last(1);
    if (row + 1 < passes.size()) draws.push_back({powers, row % 3, {9, {row, 4, 0, 0, 0}}});
  }
  PhiloxLottery lottery;
  answers.drawn = model.next_tokens(passes, draws, rows, lottery, logits);
  for (Pass& pass : passes) pass.tokens = {};
  model.next_logits(passes, logits);
  REQUIRE(answers.drawn == make_host_row_lottery()->draw(logits, vocabulary, draws, lottery));
  return answers;
}

}  // namespace tempera::gpu
