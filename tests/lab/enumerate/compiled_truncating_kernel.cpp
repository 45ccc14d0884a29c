#include "lab/enumerate/compiled_truncating_kernel.hpp"

#include "lab/enumerate/own_model.hpp"
#include "lab/enumerate/real.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using lab::Real;

namespace {

/// max |P − Q| over all entries.
Real largest_difference(const reference::Matrix& p, const reference::Matrix& q) {
  Real largest = 0;
  for (std::size_t x = 0; x < p.rows(); ++x)
    for (std::size_t y = 0; y < p.columns(); ++y)
      largest = std::max(largest, Real(abs(lab::to_real(p(x, y)) - lab::to_real(q(x, y)))));
  return largest;
}

}  // namespace

// The smallest probability of these models to the power is above 1/1000, so tickets hold more than
// 2^34 and err by less than 2^-34 · 2^-1 of themselves: with T <= 3 tokens in the proposal and 2T
// in the ratio, an entry by less than 9 · 2^-35 = 3e-10 if rows are not weighted by their law.
TEST_CASE("the compiled truncating move is the kernel of its definition, for open records too") {
  for (const auto& [name, horizon, power] :
       {std::tuple("unequal_lengths", 3, 2), std::tuple("four_state", 3, 2),
        std::tuple("several_terminals", 2, 3)}) {
    CAPTURE(name);
    const auto model = reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/" +
                                                    std::string(name) + ".json");
    const lab::FiniteLogits logits(model);
    const auto length = static_cast<std::size_t>(horizon);
    const reference::ComparisonSpace space(lab::own_model(logits.enumerable(), length, "own"),
                                           length);
    const auto exact =
        reference::truncating_kernel(space, reference::Power(reference::Rational(power)));
    const auto compiled = lab::compiled_truncating_kernel(logits.enumerable(), space, power);
    CHECK(largest_difference(compiled, exact) < Real("3e-10"));
    for (std::size_t x = 0; x < space.size(); ++x) {
      reference::Rational total = 0;
      for (std::size_t y = 0; y < space.size(); ++y) {
        total += compiled(x, y);
        if (space[y].length() > space[x].length()) CHECK(compiled(x, y) == 0);
      }
      CHECK(total == 1);
    }
  }
}
