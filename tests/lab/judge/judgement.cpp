// What lab/ says of a program: its distances recomputed from the matrix that it gives, and what it
// says of a program that does not do what it tells.
#include <cmath>
#include <stdexcept>

#include "lab/enumerate/compiled_kernel.hpp"
#include "lab/laws/law.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::lab {
namespace {

struct Unexchanged : gpu::PaperRules {
  static void exchange(gpu::Record&, gpu::Record&) {}
};

/// A table whose rows tell how often the cache that they follow from was forked: no record that was
/// forked is what a fresh one is.
class WornTable final : public gpu::LanguageModel {
 public:
  std::size_t vocabulary_size() const override { return 2; }
  std::unique_ptr<gpu::Cache> empty_cache() const override { return std::make_unique<Worn>(0, 0); }
  void next_logits(std::span<const gpu::Pass> passes, gpu::DeviceMemory<float>& rows) override {
    std::vector<float> logits;
    for (const gpu::Pass& pass : passes) {
      auto& cache = dynamic_cast<Worn&>(*pass.cache);
      cache.length_ += pass.tokens.size();
      logits.push_back(static_cast<float>(cache.forks_) / 64.0F);
      logits.push_back(0.5F);
    }
    if (rows.size() < logits.size()) rows.resize(logits.size());
    rows.upload(logits);
  }

 private:
  struct Worn final : gpu::Cache {
    Worn(std::size_t length, std::size_t forks) : length_(length), forks_(forks) {}
    std::size_t length() const override { return length_; }
    std::unique_ptr<gpu::Cache> fork(std::size_t length) const override {
      return std::make_unique<Worn>(length, forks_ + 1);
    }
    std::size_t length_, forks_;
  };
};

}  // namespace

TEST_CASE("a swap that is told and not done has no probability") {
  const FiniteLogits logits(shipped("unequal_lengths"));
  const CompiledSpace space(logits.enumerable(), 2);
  CompiledKernel<Unexchanged> kernel(space, gpu::Ladder({1.0, 2.0}), gpu::RestartLaw::uniform(2));
  const Matrix swap = kernel.swap(0);
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y)
      if (x != y) REQUIRE(swap(x, y) == 0);
}

TEST_CASE("a law's report counts the stale records of a model whose forks differ") {
  WornTable model;
  const EnumerableModel worn{model, {{}, {1}}, {"a", "e"}};
  CHECK(compiled_law(worn, nullptr, {2, {2.0}, {}}).stale_records > 0);
}

namespace {

/// What a law's report must say, from its matrix, the model's rationals and its float32 logits, in
/// Reals of 50 digits: fewer than 10^5 operations on numbers up to 1 err by less than 10^-44.
/// Returns whether the entry that is farthest off is below its exact value.
bool check_distances(const reference::FiniteModel& model, unsigned sharpest) {
  const FiniteLogits logits(model);
  const std::vector<Rational> restart{Rational(1, 4), Rational(3, 4)};
  const LawReport report =
      compiled_law(logits.enumerable(), &model, {2, {1.0, static_cast<double>(sharpest)}, restart});
  const reference::FixedHorizonSpace space(model, 2);
  const std::size_t n = space.size();

  // p0 of each record, by the model's rationals and by the softmax of its float32 logits.
  std::vector<Real> rational(n), own(n);
  for (std::size_t s = 0; s < n; ++s) {
    rational[s] = to_real(space.likelihood(s));
    own[s] = 1;
    std::vector<gpu::TokenId> prefix;
    for (const auto token : space[s].tokens) {
      Real sum = 0;
      const auto row = logits_after(logits.enumerable(), prefix);
      for (const float logit : row)
        if (!std::isinf(logit)) sum += exp(Real(logit));
      own[s] *= exp(Real(row[token])) / sum;
      prefix.push_back(token);
    }
  }
  const auto joint = [&](const std::vector<Real>& p0) {
    std::vector<Real> law;
    Real sum = 0;
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y) {
        Real mass = p0[x];
        for (unsigned power = 0; power < sharpest; ++power) mass *= p0[y];
        sum += law.emplace_back(mass);
      }
    for (Real& probability : law) probability /= sum;
    return law;
  };
  const auto distance = [](const std::vector<Real>& mu, const std::vector<Real>& nu) {
    Real sum = 0;
    for (std::size_t s = 0; s < mu.size(); ++s) sum += abs(Real(mu[s] - nu[s])) / 2;
    return sum;
  };
  const auto same = [](const Real& found, const Real& expected) {
    return abs(Real(found - expected)) < Real("1e-44") && expected > Real("1e-40");
  };
  const std::vector<Real> own_target = joint(own), target = joint(rational);
  std::vector<Real> stationary, after(n * n);
  for (const Rational& probability : report.stationary) stationary.push_back(to_real(probability));
  for (std::size_t x = 0; x < n * n; ++x)
    for (std::size_t y = 0; y < n * n; ++y)
      after[y] += own_target[x] * to_real(report.matrix(x, y));
  CHECK(same(report.tv_own, distance(stationary, own_target)));
  CHECK(same(report.tv_to_target, distance(stationary, target)));
  CHECK(same(report.tv_one_step, distance(after, own_target)));

  const reference::ParallelTempering chain(
      space,
      reference::Ladder({reference::Power(Rational(1)), reference::Power(Rational(sharpest))}),
      reference::RestartLaw(restart));
  const Matrix exact = chain.transition(1, 1).matrix();
  Real worst = 0, worst_above = 0;
  for (std::size_t x = 0; x < n * n; ++x)
    for (std::size_t y = 0; y < n * n; ++y) {
      const Real above = to_real(report.matrix(x, y)) - to_real(exact(x, y));
      worst = std::max(worst, Real(abs(above)));
      worst_above = std::max(worst_above, above);
    }
  REQUIRE(report.worst_entry);
  CHECK(same(*report.worst_entry, worst));
  return worst_above < worst;
}

}  // namespace

TEST_CASE("the distances of a law's report are what its matrix and the two targets give") {
  bool is_below = false, is_above = false;
  for (const char* name : {"unequal_lengths", "several_terminals", "late_payoff", "four_tokens"})
    for (const unsigned sharpest : {2U, 3U, 4U}) {
      CAPTURE(name, sharpest);
      (check_distances(shipped(name), sharpest) ? is_below : is_above) = true;
    }
  // The sign of the worst entry's error must not matter, and both occur.
  CHECK(is_below);
  CHECK(is_above);
}

TEST_CASE("a program that shows fewer tickets where it is run again is found out") {
  std::size_t runs = 0;
  const auto program = [&](gpu::Lottery& lottery) {
    lottery.draw(std::vector<std::uint64_t>(runs++ == 0 ? 3 : 2, 1), {});
  };
  CHECK_THROWS_AS(enumerate(program, [](const Rational&) {}), NotEnumerable);
  CHECK(runs == 2);  // at once, not where an index holds no ticket
}

TEST_CASE("total variation is half the sum of the differences") {
  const std::vector<Real> mu{Real(1) / 2, Real(1) / 4, Real(1) / 4},
      nu{0, Real(1) / 4, Real(3) / 4};
  CHECK(total_variation(mu, nu) == Real(1) / 2);
  CHECK(total_variation(nu, mu) == Real(1) / 2);
  CHECK(total_variation({1, 0}, {0, 1}) == 1);
  CHECK(total_variation(mu, mu) == 0);
}

}  // namespace tempera::lab
