#include "lab/laws/one_step_law.hpp"

#include "lab/laws/shipped_laws.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;

TEST_CASE("one step carried through rungs and edges is the one of the joint matrix") {
  const auto [name, horizon, powers, schedule] =
      GENERATE(table<std::string, std::size_t, std::vector<double>, gpu::Schedule>(
          {{"four_tokens", 2, {3.0}, gpu::Schedule::adj},
           {"unequal_lengths", 3, {1.0, 2.5}, gpu::Schedule::adj},
           {"four_state", 2, {1.0, 2.0, 4.0}, gpu::Schedule::adj},
           {"four_state", 2, {1.0, 2.0, 4.0}, gpu::Schedule::deo}}));
  INFO(name);
  const lab::FiniteLogits logits(shipped(name));
  const lab::LawQuestion question{horizon, powers, {}, schedule};
  const lab::OneStepReport one = lab::one_step_law(logits.enumerable(), question);
  const lab::LawReport whole = lab::compiled_law(logits.enumerable(), nullptr, question);
  CHECK(one.states == whole.states.size());
  CHECK(one.stale_records == 0);
  // Sums of 50-digit numbers in another order: at most 1e-48 for each of the states.
  CHECK(abs(one.tv_one_step - whole.tv_one_step) < 1e-45);
  // The law that is solved for is within the bound that needs no solution.
  REQUIRE(one.tv_own_at_most);
  CHECK(whole.tv_own <= *one.tv_own_at_most);
  CHECK(one.minorization < 1);
  CHECK(one.tv_one_step < lab::own_bound);
}

TEST_CASE("each bound of one step is what its definition gives, above what it bounds and no greater") {
  const auto [name, horizon, powers, schedule] =
      GENERATE(table<std::string, std::size_t, std::vector<double>, gpu::Schedule>(
          {{"four_tokens", 2, {3.0}, gpu::Schedule::adj},
           {"unequal_lengths", 3, {1.0, 2.5}, gpu::Schedule::adj},
           {"unequal_lengths", 3, {3.0, 4.0}, gpu::Schedule::deo},
           {"four_state", 2, {1.0, 2.0, 4.0}, gpu::Schedule::adj},
           {"four_state", 2, {0.5, 3.0, 3.5}, gpu::Schedule::deo}}));
  CAPTURE(name, horizon, powers);
  const lab::FiniteLogits logits(shipped(name));
  const lab::LawQuestion question{horizon, powers, {}, schedule};
  const lab::OneStepReport one = lab::one_step_law(logits.enumerable(), question);
  // A chain of one rung is that rung's local move.
  lab::Real minorization = 1;
  for (const double power : powers) {
    const auto rung = lab::compiled_law(logits.enumerable(), nullptr, {horizon, {power}, {}});
    reference::Rational sum = 0;
    for (std::size_t y = 0; y < rung.matrix.columns(); ++y) {
      reference::Rational least = 1;
      for (std::size_t x = 0; x < rung.matrix.rows(); ++x)
        least = std::min(least, rung.matrix(x, y));
      sum += least;
    }
    CHECK(sum < 1);
    minorization *= lab::to_real(sum);
  }
  CHECK(abs(one.minorization - minorization) < 1e-45);
  // It bounds how far two laws that start apart are apart after a step.
  const lab::LawReport whole = lab::compiled_law(logits.enumerable(), nullptr, question);
  lab::Real apart = 0;
  for (std::size_t x = 0; x < whole.matrix.rows(); ++x)
    for (std::size_t y = 0; y < x; ++y) {
      lab::Real distance = 0;
      for (std::size_t z = 0; z < whole.matrix.columns(); ++z)
        distance += abs(lab::to_real(whole.matrix(x, z)) - lab::to_real(whole.matrix(y, z)));
      apart = std::max(apart, lab::Real(distance / 2));
    }
  CHECK(apart <= 1 - one.minorization + 1e-45);
  REQUIRE(one.tv_own_at_most);
  CHECK(whole.tv_own <= *one.tv_own_at_most);
  CHECK(abs(*one.tv_own_at_most * minorization - one.tv_one_step) < 1e-45);
}

TEST_CASE("more states than have a stationary law have their one step") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const lab::LawQuestion question{35, {1.0, 2.0}, {}, gpu::Schedule::adj};
  CHECK(lab::law_states(logits.enumerable(), question) == 36 * 36);
  const lab::OneStepReport one = lab::one_step_law(logits.enumerable(), question);
  CHECK(one.states == 1296);
  CHECK(one.stale_records == 0);
  CHECK(one.tv_one_step < lab::own_bound);
  CHECK_THROWS_WITH(lab::law_states(logits.enumerable(), {128, {1.0, 2.0}, {}}),
                    Catch::Contains("more than 16384 joint states"));
}
