#include "lab/enumerate/own_model.hpp"

#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;
using reference::Rational;

TEST_CASE("equal logits give exactly equal probabilities") {
  const reference::FiniteModel model = shipped("four_state");
  const lab::FiniteLogits logits(model);
  const reference::FiniteModel own = lab::own_model(logits.enumerable(), 2, "own");
  const std::vector<reference::Token> start, after_a{0};
  CHECK(own.vocabulary() == model.vocabulary());
  CHECK(own.token_row(start) == model.token_row(start));
  CHECK(own.token_row(after_a) == model.token_row(after_a));
}

// 2^-23 |ℓ| bounds the relative error of a probability by its logit's rounding and by the others'
// in the normalisation; |ℓ| < 4 in these models.
TEST_CASE("the rows of the own model are those of its float32 logits") {
  for (const char* name : {"unequal_lengths", "zero_probabilities"}) {
    INFO(name);
    const reference::FiniteModel model = shipped(name);
    const lab::FiniteLogits logits(model);
    const reference::FiniteModel own = lab::own_model(logits.enumerable(), 1, "own");
    const std::vector<reference::Token> start;
    const auto exact = model.token_row(start);
    const auto row = own.token_row(start);
    Rational total = 0;
    for (std::size_t v = 0; v < row.size(); ++v) {
      CHECK((row[v] == 0) == (exact[v] == 0));
      CHECK(abs(Rational(row[v] - exact[v])) <= exact[v] * Rational(1, 1 << 20));
      total += row[v];
      CHECK(model.is_terminal(static_cast<reference::Token>(v)) ==
            own.is_terminal(static_cast<reference::Token>(v)));
    }
    CHECK(total == Rational(1));
  }
}
