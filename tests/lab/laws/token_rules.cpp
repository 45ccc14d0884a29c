// The law of tokenwise sampling under its rules: the whole compiled sampler, enumerated, against
// reference/.
#include "reference/kernels/token_rules.hpp"

#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "lab/laws/sampler_law.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::token_rules_test {
namespace {

using lab::Rational;
using reference::FixedHorizonSpace;
using reference::TokenRow;

struct Rules {
  TokenOptions compiled;
  reference::TokenRules defined;
};

// No bound is where a probability of these models is, so that none turns on a rounding to float32.
const std::vector<Rules> all_rules{
    {{.top_k = 1}, {.top_k = 1}},
    {{.top_k = 2}, {.top_k = 2}},
    {{.min_p = 0.3}, {.min_p = Rational(3, 10)}},
    {{.top_p = 0.55}, {.top_p = Rational(11, 20)}},
    {{.top_p = 0.85}, {.top_p = Rational(17, 20)}},
    {{.min_tokens = 2}, {.min_tokens = 2}},
    {{.ignore_eos = true}, {.ignores_terminal = true}},
    {{.min_tokens = 1, .top_k = 2, .min_p = 0.1, .top_p = 0.7},
     {.min_tokens = 1, .top_k = 2, .min_p = Rational(1, 10), .top_p = Rational(7, 10)}}};

lab::SamplerReport law_of(const reference::FiniteModel& model, unsigned power, std::size_t horizon,
                          const TokenOptions& compiled, const reference::TokenRules& defined) {
  lab::SamplerQuestion question{
      gpu::tokenwise_sampling, {power}, {gpu::make_stages(horizon, 2, {0}, {0}, {0})}};
  question.tokens = compiled;
  return lab::sampler_law(question, model, [&](const FixedHorizonSpace& space) {
    const reference::Law law =
        ruled_tokenwise_law(space, reference::Power(Rational(power)), defined);
    return lab::DefinedSampler{law, reference::expected_length(space, law)};
  });
}

/// Rows without ties.
reference::FiniteModel model_apart() {
  const auto row = [](int a, int b, int c, int e) {
    const int sum = a + b + c + e;
    return TokenRow{Rational(a, sum), Rational(b, sum), Rational(c, sum), Rational(e, sum)};
  };
  return {{"apart",
           {{"a", "b", "c", "e"}, "test"},
           {3},
           {{{}, row(5, 2, 1, 9)}, {{0}, row(1, 7, 3, 8)}, {{1}, row(11, 0, 2, 4)}},
           row(4, 3, 9, 2)},
          "test"};
}

}  // namespace

TEST_CASE("the compiled sampler has the law of its rules, ties and forbidden tokens included") {
  for (const char* name :
       {"unequal_lengths", "several_terminals", "zero_probabilities", "ties", "four_state"})
    for (const unsigned power : {1U, 2U})
      for (const Rules& rules : all_rules) {
        CAPTURE(name, power, rules.compiled.top_k, rules.compiled.min_p, rules.compiled.top_p,
                rules.compiled.min_tokens);
        const auto report = law_of(shipped(name), power, 3, rules.compiled, rules.defined);
        CHECK(report.tv_to_definition < 1e-6);
        CHECK(report.stale_records == 0);
      }
}

TEST_CASE("without ties the law is that of its rules on its own logits to the tickets' rounding") {
  for (const unsigned power : {1U, 3U})
    for (const Rules& rules : all_rules) {
      CAPTURE(power, rules.compiled.top_k, rules.compiled.min_p, rules.compiled.top_p,
              rules.compiled.min_tokens);
      const auto report = law_of(model_apart(), power, 3, rules.compiled, rules.defined);
      CHECK(report.tv_own < lab::sampler_bound);
      CHECK(report.tokens_own < lab::sampler_bound);
    }
}

TEST_CASE("a penalty's law is its own to the rounding of logits, and no other's") {
  const std::vector<TokenOptions> compiled{{},
                                           {.repetition_penalty = 1.5},
                                           {.repetition_penalty = 0.5},
                                           {.frequency_penalty = 0.75},
                                           {.presence_penalty = 0.75},
                                           {.presence_penalty = -0.75, .top_p = 0.75}};
  const auto defined = [](const TokenOptions& options) {
    return reference::TokenRules{.repetition = Rational(options.repetition_penalty),
                                 .frequency = Rational(options.frequency_penalty),
                                 .presence = Rational(options.presence_penalty),
                                 .top_p = Rational(options.top_p)};
  };
  lab::NamedRun run{"low-temperature", 3, 3, {2}};
  for (std::size_t i = 0; i < compiled.size(); ++i)
    for (std::size_t j = 0; j < compiled.size(); ++j) {
      CAPTURE(i, j);
      run.tokens = compiled[i];
      const lab::Real bound = lab::sampler_bound + lab::penalty_rounding(run, model_apart());
      CHECK(bound < 1e-4);
      const auto report = law_of(model_apart(), 2, 3, compiled[i], defined(compiled[j]));
      CHECK((report.tv_own < bound) == (i == j));
      if (i == j) CHECK(report.tokens_own < bound);
    }
}

TEST_CASE("each rule changes the law, and another rule's law is told from it") {
  const std::vector<TokenOptions> compiled{
      {}, {.top_k = 2}, {.min_p = 0.5}, {.top_p = 0.4}, {.min_tokens = 2}, {.ignore_eos = true}};
  const std::vector<reference::TokenRules> defined{{},
                                                   {.top_k = 2},
                                                   {.min_p = Rational(1, 2)},
                                                   {.top_p = Rational(2, 5)},
                                                   {.min_tokens = 2},
                                                   {.ignores_terminal = true}};
  for (std::size_t i = 0; i < compiled.size(); ++i)
    for (std::size_t j = 0; j < defined.size(); ++j) {
      CAPTURE(i, j);
      const auto report = law_of(model_apart(), 1, 3, compiled[i], defined[j]);
      CHECK((report.tv_own < lab::sampler_bound) == (i == j));
    }
}

}  // namespace tempera::token_rules_test
