#include "gpu/core/sampler/particle_weights.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/error.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::particle_weights_test {
namespace {

using Weights = std::vector<std::uint64_t>;

Weights few_weights() {
  Weights weights;
  for (int n = *rc::gen::inRange(1, 7); n > 0; --n)
    weights.push_back(*rc::gen::inRange<std::uint64_t>(1, 12));
  return weights;
}

/// The ancestor of particle i at V: the first j with iW + V < N S_j, all numbers small.
std::size_t ancestor_at(std::size_t v, std::size_t i, const Weights& weights) {
  const std::size_t total = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  std::size_t sum = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    sum += weights[j];
    if (i * total + v < weights.size() * sum) return j;
  }
  throw std::logic_error("no ancestor");
}

}  // namespace

TEST_CASE("weights are tickets in proportion, the largest 2^44, none without one") {
  const std::vector<double> logs{-700.0, -699.0, -700.0 - std::log(2.0), -1000.0};
  const Weights tickets = weight_tickets(logs);
  CHECK(tickets[1] == std::uint64_t{1} << 44);
  CHECK(std::abs(static_cast<double>(tickets[0]) - 0x1p44 * std::exp(-1.0)) < 1.0);
  CHECK(std::abs(static_cast<double>(tickets[2]) - 0x1p43 * std::exp(-1.0)) < 1.0);
  CHECK(tickets[3] == 1);
  // A common factor plays no part.
  CHECK(weight_tickets(std::vector<double>{1.0, 2.0}) ==
        weight_tickets(std::vector<double>{-2.0, -1.0}));
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(weight_tickets(std::vector<double>{0.0, wrong}), ModelError);
}

TEST_CASE("the log of the mean weight is that of its definition, whatever the weights' size") {
  for (const double shift : {0.0, -3000.0, 700.0}) {
    const std::vector<double> logs{shift - 1.0, shift - 2.5, shift, shift - 40.0};
    const double mean = (std::exp(-1.0) + std::exp(-2.5) + 1.0 + std::exp(-40.0)) / 4.0;
    CHECK(std::abs(log_mean_weight(logs, weight_tickets(logs)) - shift - std::log(mean)) < 1e-12);
  }
  CHECK(log_mean_weight(std::vector<double>{-2.0}, Weights{std::uint64_t{1} << 44}) == -2.0);
}

TEST_CASE("particles are degenerate where the effective sample size is below half their number") {
  CHECK_FALSE(is_degenerate(Weights{1, 1, 1}));
  CHECK(effective_sample_size(Weights{1, 1, 1}) == 3.0);
  CHECK(is_degenerate(Weights{100, 1, 1}));
  // Just half is not below it.
  CHECK_FALSE(is_degenerate(Weights{1, 1, 0, 0}));
  CHECK(is_degenerate(Weights{1'000'000'001, 1'000'000'000, 0, 0}));
  CHECK_FALSE(is_degenerate(Weights{std::uint64_t{1} << 44, 1}));
  // The largest that there can be: no sum overflows.
  Weights most(65536, 1);
  most.front() = std::uint64_t{1} << 44;
  CHECK(is_degenerate(most));
  CHECK_FALSE(is_degenerate(Weights(65536, std::uint64_t{1} << 44)));
  law("any weights: the integers agree with the definition", [] {
    const Weights weights = few_weights();
    const auto count = static_cast<double>(weights.size());
    const double size = effective_sample_size(weights);
    RC_ASSERT(size > 0.999999 && size < count * 1.000001);
    if (std::abs(size - count / 2) > 1e-6) RC_ASSERT(is_degenerate(weights) == (size < count / 2));
  });
}

TEST_CASE("the lottery of systematic resampling is the law of its one uniform") {
  law("any weights: every V of the cells has the ancestors of the definition", [] {
    const Weights weights = few_weights();
    const SystematicResampling resampling(weights);
    const std::size_t total = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
    RC_ASSERT(resampling.tickets.size() <= weights.size());
    std::size_t v = 0;
    std::vector<std::size_t> offspring(weights.size());
    for (std::size_t cell = 0; cell < resampling.tickets.size(); ++cell) {
      RC_ASSERT(resampling.tickets[cell] > 0U);
      const std::vector<std::size_t> ancestors = resampling.ancestors(cell);
      RC_ASSERT(ancestors.size() == weights.size());
      for (std::size_t end = v + resampling.tickets[cell]; v < end; ++v)
        for (std::size_t i = 0; i < weights.size(); ++i) {
          RC_ASSERT(ancestors[i] == ancestor_at(v, i, weights));
          ++offspring[ancestors[i]];
        }
    }
    RC_ASSERT(v == total);
    // Unbiased: Σ_V offspring of j = N W_j.
    for (std::size_t j = 0; j < weights.size(); ++j)
      RC_ASSERT(offspring[j] == weights.size() * weights[j]);
  });
  const SystematicResampling large(
      Weights{std::uint64_t{1} << 44, 3, (std::uint64_t{1} << 44) - 1});
  CHECK(std::accumulate(large.tickets.begin(), large.tickets.end(), std::uint64_t{0}) ==
        (std::uint64_t{1} << 45) + 2);
}

}  // namespace tempera::gpu::particle_weights_test
