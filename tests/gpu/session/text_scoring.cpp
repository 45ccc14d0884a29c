// Texts that a session scores beside the samples that it draws.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "gpu/session/session.hpp"
#include "gpu/session/token_scores.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/session/asked_request.hpp"
#include "tests/gpu/session/heard.hpp"

namespace tempera::gpu::text_scoring_test {
namespace {

using Tokens = std::vector<TokenId>;

const std::vector<double> one{1.0};

/// A model that counts its passes and the caches that are there.
class CountedModel final : public LanguageModel {
 public:
  explicit CountedModel(LanguageModel& model) : model_(model) {}
  std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::unique_ptr<Cache> empty_cache() const override {
    return std::make_unique<Counted>(model_.empty_cache(), *this);
  }
  std::size_t cache_bytes(std::size_t tokens) const override { return 10 * tokens; }
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
    ++batches;
    std::vector<Pass> inner;
    for (const Pass& pass : passes)
      inner.push_back({dynamic_cast<Counted&>(*pass.cache).inner.get(), pass.tokens});
    model_.next_logits(inner, rows);
  }

  mutable std::size_t caches = 0;
  std::size_t batches = 0;

 private:
  struct Counted final : Cache {
    Counted(std::unique_ptr<Cache> its_inner, const CountedModel& its_owner)
        : inner(std::move(its_inner)), owner(its_owner) {
      ++owner.caches;
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() override { --owner.caches; }
    std::size_t length() const override { return inner->length(); }
    std::unique_ptr<Cache> fork(std::size_t length) const override {
      return std::make_unique<Counted>(inner->fork(length), owner);
    }
    std::unique_ptr<Cache> inner;
    const CountedModel& owner;
  };

  LanguageModel& model_;
};

struct Scores final : Listener {
  void answered(RequestId, std::size_t, const Answer&) override {}
  void scored(RequestId request, std::span<const TokenAlternatives> scores) override {
    of[request].assign(scores.begin(), scores.end());
  }
  void failed(RequestId request, std::size_t, const std::exception_ptr& why) override {
    failures[request] = why;
  }
  std::map<RequestId, std::vector<TokenAlternatives>> of;
  std::map<RequestId, std::exception_ptr> failures;
};

Tokens text_of(std::size_t length) {
  Tokens tokens;
  for (std::size_t i = 0; i < length; ++i) tokens.push_back(static_cast<TokenId>((i * i + 3) % 7));
  return tokens;
}

void finish(Session& session) {
  while (session.step()) {
  }
}

}  // namespace

TEST_CASE("texts have the bits of score_tokens, and samples beside them keep theirs", "[session]") {
  const auto transformer = random_qwen3(small_config(), 5);
  TableModel table = scattered_table(7, 3);
  for (LanguageModel* model :
       {static_cast<LanguageModel*>(transformer.get()), static_cast<LanguageModel*>(&table)}) {
    Session session(*model, {}, &letters);
    Heard heard;
    Scores scores;
    std::map<RequestId, Tokens> asked;
    const RequestId sample = session.submit(varied_request(0), heard);
    for (const std::size_t length : {2, 3, 20}) {
      const Tokens tokens = text_of(length);
      asked[session.score(tokens, 3, scores)] = tokens;
    }
    finish(session);
    CHECK(heard.bits_of(sample) == bits_alone(*model, varied_request(0), &letters));
    REQUIRE(scores.of.size() == asked.size());
    for (const auto& [id, tokens] : asked) {
      const auto wanted = score_tokens(*model, tokens, one);
      const auto& found = scores.of.at(id);
      REQUIRE(found.size() == tokens.size() - 1);
      for (std::size_t t = 0; t < found.size(); ++t) {
        CHECK(found[t].log_p == wanted.log_p[t]);
        REQUIRE(found[t].likeliest.size() == 3);
        // The likeliest are those that score_tokens finds when each token takes this place.
        std::vector<std::pair<double, int>> all;
        for (TokenId token = 0; token < model->vocabulary_size(); ++token) {
          Tokens other(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t) + 1);
          other.push_back(token);
          all.emplace_back(score_tokens(*model, other, one).log_p.back(), -static_cast<int>(token));
        }
        std::sort(all.rbegin(), all.rend());
        for (std::size_t j = 0; j < 3; ++j) CHECK(found[t].likeliest[j].second == all[j].first);
      }
    }
    CHECK(session.totals().score > 0.0);
  }
}

TEST_CASE("a text takes one pass of each step, so nobody waits for its end", "[session]") {
  TableModel table = scattered_table(7, 3);
  CountedModel model(table);
  Session session(model, {}, &letters);
  Scores scores;
  // 1399 tokens are computed in three passes of 512, and their positions scored in 22 of 64.
  const RequestId text = session.score(text_of(1400), 1, scores);
  std::size_t steps = 0;
  for (bool is_more = true; is_more; ++steps) {
    const std::size_t before = model.batches;
    is_more = session.step();
    CHECK(model.batches == before + 1);
  }
  CHECK(steps == 3 + 22);
  CHECK(scores.of.at(text).size() == 1399);
  CHECK(session.totals().cache_bytes == 0);
  CHECK(model.caches == 0);

  // Samples end after as many steps as without a text.
  const auto steps_of_sample = [&](bool is_beside) {
    Session other(model, {}, &letters);
    Heard heard;
    if (is_beside) other.score(text_of(1400), 1, scores);
    const RequestId sample = other.submit(varied_request(0), heard);
    std::size_t count = 0;
    while (!heard.samples.contains({sample, 0}) || heard.samples.at({sample, 0}).answers.empty()) {
      other.step();
      ++count;
    }
    return count;
  };
  CHECK(steps_of_sample(true) == steps_of_sample(false));
}

TEST_CASE("every position of a long text has its own scores, and equal alternatives their order",
          "[session]") {
  // Logits of few values, which say where they are: by the length of the prefix and its last token.
  const auto row_after = [](std::size_t length, TokenId last) {
    std::vector<float> row;
    for (std::size_t v = 0; v < 7; ++v)
      row.push_back(static_cast<float>((length * length + 5 * length * v + 3 * v + last) % 11 / 4));
    return row;
  };
  TableModel model(
      7, [&](std::span<const TokenId> prefix) { return row_after(prefix.size(), prefix.back()); });
  const Tokens tokens = text_of(1400);  // three passes of at most 512 tokens
  Session session(model, {}, &letters);
  Scores scores;
  const RequestId text = session.score(tokens, 5, scores);
  finish(session);
  const auto& found = scores.of.at(text);
  REQUIRE(found.size() == tokens.size() - 1);
  std::size_t wrong = 0, ties = 0;
  for (std::size_t t = 0; t < found.size(); ++t) {
    const auto row = row_after(t + 1, tokens[t]);
    TableModel alone(7, [&](std::span<const TokenId>) { return row; });
    std::vector<TokenId> order{0, 1, 2, 3, 4, 5, 6};
    std::stable_sort(order.begin(), order.end(),
                     [&](TokenId a, TokenId b) { return row[a] > row[b]; });
    bool is_right = found[t].log_p == score_tokens(alone, Tokens{0, tokens[t + 1]}, one).log_p[0] &&
                    found[t].likeliest.size() == 5;
    for (std::size_t j = 0; is_right && j < 5; ++j) {
      const auto [token, log_p] = found[t].likeliest[j];
      is_right = token == order[j] && log_p == score_tokens(alone, Tokens{0, token}, one).log_p[0];
      ties += j > 0 && row[order[j]] == row[order[j - 1]] ? 1 : 0;
    }
    wrong += is_right ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(ties > found.size());
}

TEST_CASE("the texts of clients take turns, and those of one client come one after the other",
          "[session][unsanitized]") {
  TableModel table = scattered_table(7, 3);
  Session session(table, {}, &letters);
  Scores scores;
  std::vector<RequestId> large;
  for (std::uint64_t number = 0; number < 4; ++number)
    large.push_back(session.score(text_of(3000), 0, scores, {1, number}));
  for (int i = 0; i < 5; ++i) session.step();
  const RequestId small = session.score(text_of(70), 0, scores, {2, 9});
  // Alone it takes three passes: its tokens once, and its positions in two.
  int steps = 0;
  for (; !scores.of.contains(small); ++steps) session.step();
  CHECK(steps <= 2 * 3 + 1);
  for (std::size_t i = 0; i + 1 < large.size(); ++i) {
    while (!scores.of.contains(large[i])) session.step();
    CHECK_FALSE(scores.of.contains(large[i + 1]));
  }
}

TEST_CASE("a cancelled text takes no further pass, and is not heard", "[session]") {
  TableModel table = scattered_table(7, 3);
  for (const int steps : {0, 1, 5}) {
    CAPTURE(steps);
    CountedModel model(table);
    Session session(model, {}, &letters);
    Scores scores;
    const RequestId gone = session.score(text_of(1400), 1, scores);
    const RequestId next = session.score(text_of(5), 1, scores);
    for (int i = 0; i < steps; ++i) session.step();
    session.cancel(gone);
    session.cancel(gone);
    CHECK(model.caches == 0);
    CHECK(session.totals().cache_bytes == 0);
    const std::size_t before = model.batches;
    finish(session);
    CHECK(model.batches == before + 2);  // the other text: its tokens and its positions
    CHECK_FALSE(scores.of.contains(gone));
    CHECK(scores.of.at(next).size() == 4);
    CHECK(scores.failures.empty());
  }
}

TEST_CASE(
    "a text that the model cannot score fails alone, and a forbidden token has no probability",
    "[session]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  // After token 6 there are no numbers; token 5 never comes.
  TableModel model(7, [&](std::span<const TokenId> prefix) {
    std::vector<float> row(7, 0.0F);
    row[5] = -infinity;
    if (prefix.back() == 6) row[2] = std::numeric_limits<float>::quiet_NaN();
    return row;
  });
  Session session(model, {}, &letters);
  Scores scores;
  const RequestId first = session.score({1, 2, 3}, 2, scores);
  const RequestId wrong = session.score({1, 6, 3}, 2, scores);
  const RequestId forbidden = session.score({1, 5, 3}, 6, scores);
  finish(session);
  CHECK(scores.of.at(first).size() == 2);
  CHECK_FALSE(scores.of.contains(wrong));
  REQUIRE(scores.failures.size() == 1);
  CHECK_THROWS_WITH(std::rethrow_exception(scores.failures.at(wrong)),
                    Catch::Contains("a logit is NaN or +infinity"));
  const auto& found = scores.of.at(forbidden);
  CHECK(found[0].log_p == -static_cast<double>(infinity));
  CHECK(found[1].log_p == scores.of.at(first)[1].log_p);
  CHECK(found[0].likeliest.size() == 6);
  CHECK(session.totals().cache_bytes == 0);
}

TEST_CASE("texts count in the memory of caches, and wait for room in their turn", "[session]") {
  TableModel table = scattered_table(7, 3);
  CountedModel model(table);
  SampleRequest asked = varied_request(0);
  const std::size_t budget = 2500;
  for (const std::size_t length : {4, 100, 1000}) {  // the last fits beside nothing
    CAPTURE(length);
    Session session(model, {{.in_flight = 40, .cache_memory = budget}}, &letters);
    Heard heard;
    Scores scores;
    std::vector<RequestId> samples;
    for (int i = 0; i < 5; ++i) samples.push_back(session.submit(asked, heard));
    session.step();
    const RequestId text = session.score(text_of(length), 1, scores);
    for (int i = 0; i < 5; ++i) samples.push_back(session.submit(asked, heard));
    const std::size_t alone = TextScoring::cache_bytes(model, length);
    std::size_t most = 0;
    bool is_more = true;
    while (is_more) {
      is_more = session.step();
      most = std::max(most, session.totals().cache_bytes);
    }
    CHECK(most <= std::max(budget, alone + 10 * asked.prompt.size()));
    CHECK(most >= std::min(budget, alone));
    CHECK(scores.of.at(text).size() == length - 1);
    for (const RequestId sample : samples)
      CHECK(heard.bits_of(sample) == bits_alone(table, asked, &letters));
    CHECK(session.totals().cache_bytes == 0);
  }
}

// Fewer positions of a text go together where memory is short, and have the same bits.
TEST_CASE("a small request begins at once beside the longest text that is scored", "[session]") {
  TableModel table = scattered_table(7, 3);
  CountedModel model(table);
  const Asked small{.rungs = 1, .rounds = 1, .horizon = 4};
  const std::size_t memory = 8000;
  SessionOptions options;
  options.cache_memory = memory;
  const auto alone = [&] {
    Session session(model, options);
    Heard heard;
    return steps_to_answer(session, heard, session.submit(request_of(small, {2, 2}), heard), 1);
  }();
  // With 64 positions at a time, with ten, and with one.
  for (const std::size_t length : {636, 690, 699}) {
    CAPTURE(length);
    const auto wanted = [&] {
      Session session(model, {});
      Scores scores;
      const RequestId text = session.score(text_of(length), 2, scores);
      finish(session);
      return scores.of.at(text);
    }();
    Session session(model, options);
    Heard heard;
    Scores scores;
    const RequestId text = session.score(text_of(length), 2, scores);
    session.step();
    CHECK(session.totals().cache_bytes > memory * 3 / 4);
    CHECK(session.totals().cache_bytes <= memory - memory / 8);
    const RequestId id = session.submit(request_of(small, {2, 2}), heard);
    CHECK(steps_to_answer(session, heard, id, 1) <= 2 * alone + 2);
    CHECK_FALSE(scores.of.contains(text));
    finish(session);
    const auto& found = scores.of.at(text);
    REQUIRE(found.size() == wanted.size());
    for (std::size_t t = 0; t < found.size(); ++t) {
      CHECK(found[t].log_p == wanted[t].log_p);
      CHECK(found[t].likeliest == wanted[t].likeliest);
    }
  }
}

TEST_CASE("a text that waits for much memory holds up nobody, and is passed by few",
          "[session][unsanitized]") {
  TableModel table = scattered_table(7, 3);
  CountedModel model(table);
  const Asked lengthy{.rungs = 2, .samples = 40, .rounds = 60, .horizon = 12};
  const Asked small{.rungs = 1, .rounds = 1, .horizon = 4};
  SessionOptions options;
  options.cache_memory = 2500;
  const auto alone = [&] {
    Session session(model, options);
    Heard heard;
    return steps_to_answer(session, heard, session.submit(request_of(small, {2, 2}), heard), 1);
  }();
  for (const bool are_endless : {false, true}) {
    CAPTURE(are_endless);
    Session session(model, options);
    Heard heard;
    Heard others;
    Scores scores;
    session.submit(request_of(lengthy, {1, 1}), heard);
    session.step();
    const RequestId text = session.score(text_of(1000), 1, scores);
    std::uint64_t number = 2;
    std::size_t answered = 0;
    others.on_answer = [&](RequestId) {
      ++answered;
      ++number;
      if (are_endless) session.submit(request_of(small, {number, number}), others);
    };
    const RequestId id = session.submit(request_of(small, {2, 2}), others);
    CHECK(steps_to_answer(session, others, id, 1) <= 2 * alone + 2);
    CHECK_FALSE(scores.of.contains(text));
    std::size_t steps = 0;
    while (!scores.of.contains(text)) {
      REQUIRE(++steps < 50'000);
      REQUIRE((session.step() || scores.of.contains(text)));
    }
    CHECK(answered <= 64);
    CHECK(answered >= (are_endless ? 8 : 1));
    // Those that were under way have ended, and no other of the request has begun.
    CHECK(heard.samples.size() >= 1);
    CHECK(heard.samples.size() <= 8);
    others.on_answer = nullptr;
    finish(session);
  }
}

TEST_CASE("a text that is none is refused at once", "[session]") {
  TableModel table = scattered_table(7, 3);
  Session session(table);
  Scores scores;
  CHECK_THROWS_WITH(session.score({1}, 1, scores), Catch::Contains("give at least two"));
  CHECK_THROWS_WITH(session.score({1, 7}, 1, scores), Catch::Contains("outside the vocabulary"));
  CHECK_FALSE(session.step());
}

}  // namespace tempera::gpu::text_scoring_test
