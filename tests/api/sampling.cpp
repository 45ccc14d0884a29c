// Sessions of the C++ interface: a listener hears of each sample what its answer says, and an
// answer is the same alone and beside others. Scores beside those of every other token.
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tempera/sample.hpp"
#include "tempera/score.hpp"
#include "tests/catch.hpp"

namespace tempera::sampling_test {
namespace {

struct Heard {
  std::string text;
  std::vector<std::size_t> stages;
  std::vector<Answer> answers;
};

class Hears final : public Listener {
 public:
  void text_drawn(RequestId request, std::size_t sample, std::string_view text) override {
    CHECK_FALSE(text.empty());
    of[{request, sample}].text += text;
  }
  void round_ended(RequestId request, std::size_t sample, std::size_t stage,
                   std::size_t /*round*/) override {
    of[{request, sample}].stages.push_back(stage);
  }
  void answered(RequestId request, std::size_t sample, const Answer& answer) override {
    of[{request, sample}].answers.push_back(answer);
  }
  void failed(RequestId, std::size_t, const std::exception_ptr&) override { FAIL("a sample"); }

  std::map<std::pair<RequestId, std::size_t>, Heard> of;
};

auto counts_of(const std::vector<Acceptance>& all) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
  for (const Acceptance& each : all) counts.emplace_back(each.proposed, each.accepted);
  return counts;
}

void check_same(const Answer& a, const Answer& b) {
  CHECK(a.text == b.text);
  CHECK(a.tokens == b.tokens);
  CHECK(a.log_p0 == b.log_p0);
  CHECK(a.terminated == b.terminated);
  CHECK(a.stopped == b.stopped);
  CHECK(a.log_p0_of_rungs == b.log_p0_of_rungs);
  CHECK(counts_of(a.local_moves) == counts_of(b.local_moves));
  CHECK(counts_of(a.swaps) == counts_of(b.swaps));
  CHECK(a.decode_tokens == b.decode_tokens);
}

Model sums() { return open_model(TEMPERA_SOURCE_DIR "/toy_models/worked_sum"); }

SampleRequest tokenwise(std::uint64_t seed) {
  return {.prompt = "4+7?",
          .sampler = {.sampler = "standard", .horizon = 28},
          .samples = 3,
          .seed = seed};
}

SampleRequest tempered(std::uint64_t seed) {
  return {.prompt = "4+7+9?",
          .sampler = {.powers = {{1, 2, 4}}, .horizon = 8, .block = 4, .rounds = {{2, 3}}},
          .samples = 2,
          .seed = seed};
}

}  // namespace

TEST_CASE("a listener hears of each sample what its answer says") {
  const Model model = sums();
  SampleRequest stopped = tokenwise(2);
  stopped.stop = {"=12", ",1"};
  SampleRequest by_tokens = tokenwise(3);
  by_tokens.prompt = model.encode("4+7?");
  const std::vector<SampleRequest> requests{tokenwise(2), stopped, tempered(5), by_tokens};
  Session session(model, {.largest_batch = 3});
  Hears hears;
  std::vector<RequestId> ids;
  for (const SampleRequest& request : requests) ids.push_back(session.submit(request, hears));
  while (session.step()) {
  }
  std::uint64_t drawn = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CAPTURE(i);
    const std::vector<Answer> alone = sample(model, requests[i]);
    REQUIRE(alone.size() == requests[i].samples);
    for (std::size_t n = 0; n < alone.size(); ++n) {
      const Heard& heard = hears.of.at({ids[i], n});
      REQUIRE(heard.answers.size() == 1);
      check_same(heard.answers[0], alone[n]);
      const bool is_tempered = requests[i].sampler.powers.has_value();
      if (!is_tempered) CHECK(heard.text == alone[n].text);
      if (is_tempered) {
        CHECK(heard.stages.size() == 2 + 2 + 3);  // of each stage its extension and its rounds
        CHECK(std::is_sorted(heard.stages.begin(), heard.stages.end()));
        CHECK(alone[n].log_p0_of_rungs.size() == 3);
        CHECK(alone[n].local_moves.size() == 3);
        REQUIRE(alone[n].swaps.size() == 2);
        for (const Acceptance& edge : alone[n].swaps) CHECK(edge.proposed == 2 + 3);
      }
      drawn += alone[n].decode_tokens;
    }
  }
  CHECK(hears.of.size() == 3 + 3 + 2 + 3);
  CHECK(session.report().decode_tokens >= drawn);
  CHECK(session.report().batches > 0);
}

TEST_CASE("nothing is heard of a request that was cancelled, and the others keep their answers") {
  const Model model = sums();
  Session session(model);
  Hears hears;
  const RequestId gone = session.submit(tempered(7), hears);
  const RequestId stays = session.submit(tempered(8), hears);
  session.step();
  session.cancel(gone);
  hears.of.clear();
  session.cancel(gone + 100);  // of no request
  while (session.step()) {
  }
  const std::vector<Answer> alone = sample(model, tempered(8));
  for (std::size_t n = 0; n < alone.size(); ++n)
    check_same(hears.of.at({stays, n}).answers.at(0), alone[n]);
  CHECK(hears.of.size() == alone.size());
}

TEST_CASE(
    "scores are those of every token that could follow, and have log z of the powers that are "
    "given") {
  const Model model = sums();
  const std::vector<TokenId> tokens = model.encode("4+7?");
  REQUIRE(tokens.size() > 2);
  const Scores alone = score(model, tokens);
  REQUIRE(alone.log_p.size() == tokens.size() - 1);
  CHECK(alone.log_z.empty());
  // log p0 of each token of the vocabulary after each prefix: their shares are all there is.
  std::vector<std::vector<double>> rows;
  for (std::size_t t = 1; t < tokens.size(); ++t) {
    std::vector<TokenId> prefix(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t));
    auto& row = rows.emplace_back();
    prefix.push_back(0);
    for (TokenId v = 0; v < model.vocabulary_size(); ++v) {
      prefix.back() = v;
      row.push_back(score(model, prefix).log_p.back());
    }
    CHECK(row[tokens[t]] == alone.log_p[t - 1]);
  }
  // Exponentials and logarithms are accurate to 2^-44. A power of at most 4 multiplies what a
  // log p is off by, a sum has at most 64 terms, and there is one on each side: 4 · 64 · 2 · 2^-44.
  REQUIRE(model.vocabulary_size() <= 64);
  constexpr double accuracy = 0x1p-35;
  for (const std::vector<double>& powers :
       {std::vector<double>{1.0}, {2.0}, {4.0, 0.25}, {0.5, 1.0, 3.0}}) {
    const Scores scores = score(model, tokens, powers);
    CHECK(scores.log_p == alone.log_p);
    REQUIRE(scores.log_z.size() == rows.size());
    for (std::size_t t = 0; t < rows.size(); ++t) {
      REQUIRE(scores.log_z[t].size() == powers.size());
      for (std::size_t k = 0; k < powers.size(); ++k) {
        double sum = 0.0;
        for (const double log_p : rows[t]) sum += std::exp(powers[k] * log_p);
        CAPTURE(t, powers[k]);
        CHECK(std::abs(scores.log_z[t][k] - std::log(sum)) <= accuracy);
      }
    }
  }
  const std::vector<TokenId> one{tokens.front()};
  const std::vector<TokenId> outside{tokens.front(), static_cast<TokenId>(model.vocabulary_size())};
  CHECK_THROWS_AS(score(model, one), BadInput);
  CHECK_THROWS_AS(score(model, outside), BadInput);
  for (const double power : {0.0, 0x1p-21, 0x1.0000000000001p20, -1.0}) {
    const std::vector<double> powers{1.0, power};
    CHECK_THROWS_AS(score(model, tokens, powers), BadInput);
  }
}

}  // namespace tempera::sampling_test
