#include "lab/defects/gallery.hpp"

#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;

TEST_CASE("the sound kernels pass the check that the defects fail") {
  const auto [name, horizon] = GENERATE(table<std::string, std::size_t>(
      {{"four_state", 3}, {"unequal_lengths", 4}, {"several_terminals", 3}, {"late_payoff", 5}}));
  INFO(name);
  const lab::FiniteLogits logits(shipped(name));
  const auto found = lab::check_kernels(logits.enumerable(), horizon, {1.0, 4.0});
  if (found) FAIL_CHECK(found->kernel + ": " + found->x + " | " + found->y);
  CHECK_FALSE(found);
}

TEST_CASE("each planted defect is caught, with its smallest pair of states") {
  const auto name = GENERATE(as<std::string>(), "four_tokens", "ties");
  const lab::FiniteLogits logits(shipped(name));
  const auto gallery = lab::defect_gallery(logits.enumerable(), name, 3, {1.0, 4.0});
  REQUIRE(gallery.size() == 5);
  for (const lab::Exhibit& exhibit : gallery) {
    INFO(exhibit.defect);
    REQUIRE(exhibit.caught);
    CHECK(exhibit.caught->x != exhibit.caught->y);
  }
}

// The four-state pair is small enough to be worked out by hand: at X_1 = e with r = 1 the proposal
// a a has probability 1/4 and is accepted with probability 1/2, so the entry is ω(1)/8 = 1/16; a
// restart within the record always draws r = 1 there, which doubles it.
TEST_CASE("the counterexample of a restart within the record is the one worked out by hand") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const auto gallery = lab::defect_gallery(logits.enumerable(), "four_state", 2, {2.0, 4.0});
  const lab::Counterexample& found = gallery[1].caught.value();
  CHECK(found.kernel == "local move at power 2");
  CHECK(found.x == "e");
  CHECK(found.y == "a a");
  CHECK(found.compiled == "1.250000e-01");
  CHECK(found.exact == "6.250000e-02");
  CHECK(gallery[2].caught.value().kernel == "cache of a record after a move or swap");
}
