#include "reference/analysis/answer_probability.hpp"

#include <numeric>

#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

/// A record of the space, cut after some tokens, as text.
std::string some_beginning(const RecordSpace& space) {
  const auto x = random::between<std::size_t>(0, space.size() - 1);
  const auto& tokens = space[x].tokens;
  return space.model().text(
      std::span(tokens).first(random::between<std::size_t>(1, tokens.size())));
}

/// By the spelling of whole tokens.
bool begins_with(const std::string& record, const std::string& answer) {
  return (record + ' ').rfind(answer + ' ', 0) == 0;
}

}  // namespace

TEST_CASE("laws of the answer set") {
  law("its probability is that of the records whose text begins with an answer", [] {
    const FiniteModel model = random::model();
    const auto horizon = random::horizon();
    const FixedHorizonSpace space(model, horizon);
    const ComparisonSpace wider(model, horizon);
    std::string first = some_beginning(space);
    const std::string second = some_beginning(space);
    std::vector<std::string> answers{first};
    if (!begins_with(first, second) && !begins_with(second, first)) {
      answers.push_back(second);
      first += '|' + second;
    }
    const FiniteModel judged = model.with_answers(first, "--answers");
    for (const RecordSpace* names : std::initializer_list<const RecordSpace*>{&space, &wider}) {
      const Law law = random::weights(names->size());
      Rational right = 0;
      for (std::size_t x = 0; x < names->size(); ++x)
        if (std::any_of(answers.begin(), answers.end(), [&](const std::string& answer) {
              return begins_with(names->name(x), answer);
            }))
          right += law[x];
      const auto same_space = [&]() -> std::optional<Rational> {
        if (names == &space) return answer_probability(FixedHorizonSpace(judged, horizon), law);
        return answer_probability(ComparisonSpace(judged, horizon), law);
      };
      RC_ASSERT(same_space() == right);
      RC_ASSERT(!answer_probability(*names, law));
    }
  });
}

TEST_CASE("of the four-state model each record's mass is counted where it belongs") {
  const FiniteModel model = parse_finite_model(
      R"({"name": "m", "vocabulary": ["a", "e"], "terminal": ["e"],
          "default": {"a": "1/2", "e": "1/2"}, "answers": ["a e", "e"]})",
      "m.json");
  const ComparisonSpace space(model, 2);
  REQUIRE(space.names() == std::vector<std::string>{"a", "a a", "a e", "e"});
  const Law law{Rational(1, 12), Rational(2, 12), Rational(4, 12), Rational(5, 12)};
  CHECK(answer_probability(space, law) == Rational(9, 12));
  CHECK(open_probability(space, law) == Rational(3, 12));
}
