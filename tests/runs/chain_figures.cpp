#include "runs/chain_figures.hpp"

#include <cmath>

#include "runs/run_diagnostics.hpp"
#include "tests/catch.hpp"

using namespace tempera::gpu;

namespace {

RoundTrace trace_of(std::size_t prompt, std::size_t sample, std::size_t stage, std::size_t round,
                    double log_p0) {
  return {prompt, sample, stage, round, {1, 2}, {3, round + 1}, {-1.0, log_p0}, {}};
}

}  // namespace

// By arviz 0.22; some draws are equal.
TEST_CASE("the figures of two chains are those of arviz") {
  const ChainFigures figures =
      figures_of({{-3, -1, -1, -2, -5, -4, -4}, {-2, -2, -6, -1, -3, -3, -7}});
  CHECK(figures.mean == Approx(-22.0 / 7).epsilon(1e-14));
  CHECK(figures.sd == Approx(1.8752289237539816).epsilon(1e-14));
  CHECK(figures.mcse == Approx(0.5210944830146598).epsilon(1e-12));
  CHECK(figures.ess_bulk == Approx(12.9501749525715).epsilon(1e-12));
  CHECK(figures.ess_tail == Approx(12.0).epsilon(1e-12));
  REQUIRE(figures.r_hat);
  CHECK(*figures.r_hat == Approx(1.171261782029854).epsilon(1e-12));
}

TEST_CASE("chains that stay where they are") {
  const ChainFigures equal = figures_of({{2, 2, 2, 2}, {2, 2, 2, 2}});
  CHECK(equal.ess_bulk == 8);
  CHECK(equal.ess_tail == 8);
  CHECK(equal.mcse == 0);
  CHECK_FALSE(equal.r_hat);
  const ChainFigures apart = figures_of({{2, 2, 2, 2}, {3, 3, 3, 3}});
  REQUIRE(apart.r_hat);
  CHECK(std::isinf(*apart.r_hat));
}

TEST_CASE("draws are the rounds of the last stage, and a chain that has not ended is left out") {
  ChainCollector chains;
  for (const std::size_t prompt : {1U, 0U})
    for (std::size_t sample = 0; sample < 3; ++sample) {
      chains.take(trace_of(prompt, sample, 1, 1, -100));
      chains.take(trace_of(prompt, sample, 2, 0, -100));
      // Prompt 0 has four rounds, but the third answer three; prompt 1 has three.
      const std::size_t rounds = prompt == 1 || sample == 2 ? 3 : 4;
      for (std::size_t round = 1; round <= rounds; ++round)
        chains.take(trace_of(prompt, sample, 2, round, -static_cast<double>(round * (sample + 1))));
    }
  const auto found = chains.diagnose();
  REQUIRE(found.size() == 2);
  for (const RungDiagnostics& at : found) {
    CHECK(at.prompt == 0);
    CHECK(at.chains == 2);
    CHECK(at.draws == 4);
  }
  CHECK(found[0].rung == 1);
  CHECK(found[0].log_p0.mean == -1);
  CHECK(found[0].length.mean == 3);
  CHECK(found[1].rung == 2);
  CHECK(found[1].log_p0.mean == Approx(-(10.0 + 20.0) / 8).epsilon(1e-14));
  CHECK(found[1].length.mean == Approx(3.5).epsilon(1e-14));
  // The last rung holds eight records once each, the likeliest with log p0 -1 and two tokens. The
  // first rung's has three.
  CHECK(found[0].answer.mean == 0);
  CHECK(found[1].answer.mean == 0.125);
  CHECK(ChainCollector().diagnose().empty());
}

TEST_CASE("the commonest answer is that of the last rung, and its share is told for every rung") {
  ChainCollector chains;
  for (const double log_p0 : {-5.0, -2.0, -5.0, -3.0})
    chains.take({0, 0, 1, 1, {1, 2}, {4, 4}, {-5.0, log_p0}, {}});
  const auto found = chains.diagnose();
  REQUIRE(found.size() == 2);
  CHECK(found[0].answer.mean == 1);
  CHECK(found[1].answer.mean == 0.5);
}
