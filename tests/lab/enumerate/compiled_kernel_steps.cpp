#include <array>
#include <cmath>

#include "lab/enumerate/compiled_kernel.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using lab::Matrix;
using lab::Rational;

namespace {

Matrix matrix_of(const std::vector<std::vector<Rational>>& rows) {
  Matrix matrix(rows.size(), rows.front().size());
  for (std::size_t x = 0; x < rows.size(); ++x)
    for (std::size_t y = 0; y < rows[x].size(); ++y) matrix(x, y) = rows[x][y];
  return matrix;
}

Rational over(int numerator, int denominator) { return Rational(numerator, denominator); }

// Three different local kernels on two states, and two different swaps that treat (0, 1) and (1, 0)
// apart: whatever is transposed, dropped, repeated or taken of another rung shows.
const std::vector<Matrix> local{
    matrix_of({{over(2, 3), over(1, 3)}, {over(1, 5), over(4, 5)}}),
    matrix_of({{over(1, 7), over(6, 7)}, {over(3, 8), over(5, 8)}}),
    matrix_of({{over(9, 11), over(2, 11)}, {over(4, 13), over(9, 13)}})};
const std::vector<Matrix> swap_at{matrix_of({{1, over(1, 2)}, {over(2, 3), 1}}),
                                  matrix_of({{1, over(3, 4)}, {over(1, 5), 1}})};

using State = std::array<std::size_t, 3>;

/// The law of (x1, x2, x3) after R and then the edges in `order`, by following every outcome.
std::vector<Rational> followed(const State& from, const std::vector<std::size_t>& order) {
  std::vector<Rational> law(8);
  for (std::size_t moved = 0; moved < 8; ++moved)
    // Bit i of `accepted` says whether the i-th swap of the order happens.
    for (unsigned accepted = 0; accepted < 1U << order.size(); ++accepted) {
      State x{moved / 4, moved / 2 % 2, moved % 2};
      Rational probability = 1;
      for (std::size_t k = 0; k < 3; ++k) probability *= local[k](from[k], x[k]);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t k = order[i];
        const Rational accept = swap_at[k](x[k], x[k + 1]);
        const bool happens = (accepted >> i & 1U) != 0;
        probability *= happens ? accept : Rational(1 - accept);
        if (happens) std::swap(x[k], x[k + 1]);
      }
      law[4 * x[0] + 2 * x[1] + x[2]] += probability;
    }
  return law;
}

}  // namespace

TEST_CASE("a joint step is local moves of every rung and one sweep forwards, entry by entry") {
  const Matrix step = lab::joint_step(local, swap_at);
  REQUIRE(step.rows() == 8);
  REQUIRE(step.columns() == 8);
  std::size_t differ_backwards = 0;
  for (std::size_t x = 0; x < 8; ++x) {
    const State from{x / 4, x / 2 % 2, x % 2};
    const auto forwards = followed(from, {0, 1});
    const auto backwards = followed(from, {1, 0});
    Rational total = 0;
    for (std::size_t y = 0; y < 8; ++y) {
      CAPTURE(x, y);
      CHECK(step(x, y) == forwards[y]);
      differ_backwards += forwards[y] != backwards[y] ? 1 : 0;
      total += forwards[y];
    }
    CHECK(total == 1);
  }
  CHECK(differ_backwards > 30);
}

TEST_CASE("a DEO step is local moves and the odd edge, then local moves and the even one") {
  const Matrix step = lab::joint_step(local, swap_at, gpu::Schedule::deo);
  std::size_t differ_same_edge = 0;
  for (std::size_t x = 0; x < 8; ++x) {
    const auto first = followed({x / 4, x / 2 % 2, x % 2}, {0});
    std::vector<Rational> both(8);
    std::vector<Rational> same_edge(8);
    for (std::size_t between = 0; between < 8; ++between) {
      const State from{between / 4, between / 2 % 2, between % 2};
      const auto even = followed(from, {1});
      const auto odd = followed(from, {0});
      for (std::size_t y = 0; y < 8; ++y) {
        both[y] += first[between] * even[y];
        same_edge[y] += first[between] * odd[y];
      }
    }
    for (std::size_t y = 0; y < 8; ++y) {
      CAPTURE(x, y);
      CHECK(step(x, y) == both[y]);
      differ_same_edge += both[y] != same_edge[y] ? 1 : 0;
    }
  }
  CHECK(differ_same_edge > 30);
}

TEST_CASE("a joint step of one rung is its local kernel, and of two one swap more") {
  CHECK(lab::joint_step({local[1]}, {}) == local[1]);
  const Matrix two = lab::joint_step({local[0], local[2]}, {swap_at[1]});
  // From (0, 1) to (1, 0): the swap's way from (0, 1), and staying there.
  CHECK(two(1, 2) == local[0](0, 0) * local[2](1, 1) * swap_at[1](0, 1) +
                         local[0](0, 1) * local[2](1, 0) * (1 - swap_at[1](1, 0)));
}

namespace {

/// A record of the same tokens and cache, with log p of its last token or one ζ of it one bit off.
gpu::Record one_bit_off(const gpu::Record& record, bool in_log_p, gpu::Rung rung) {
  gpu::Record spoilt(record.context(), record.cache().fork(record.cache().length()));
  spoilt.raise_horizon(record.horizon());
  for (std::size_t t = 1; t <= record.length(); ++t) {
    const auto log_z = record.tokens().log_z(t);
    gpu::ScoredToken token{
        record.tokens().token(t), record.tokens().log_p(t), {log_z.begin(), log_z.end()}};
    if (t == record.length())
      (in_log_p ? token.log_p : token.log_z[rung]) =
          std::nextafter(in_log_p ? token.log_p : token.log_z[rung], -100.0);
    spoilt.append(token);
  }
  return spoilt;
}

/// An exchange that leaves the upper record's log p, or its ζ at the lower or the upper rung,
/// wrong.
template <bool in_log_p, gpu::Rung rung>
struct OneBitOff : gpu::PaperRules {
  static void exchange(gpu::Record& x, gpu::Record& y) {
    std::swap(x, y);
    y = one_bit_off(y, in_log_p, rung);
  }
};

template <class Rules>
std::vector<lab::StaleRecord> stale_after_swaps() {
  const lab::FiniteLogits logits(
      reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/unequal_lengths.json"));
  const lab::CompiledSpace space(logits.enumerable(), 2);
  lab::CompiledKernel<Rules> kernel(space, gpu::Ladder({1.5, 2.5}), gpu::RestartLaw::uniform(2));
  kernel.swap(0);
  return kernel.stale();
}

}  // namespace

TEST_CASE("a record is compared by log p and by every zeta, to the bit") {
  CHECK(stale_after_swaps<gpu::PaperRules>().empty());
  const auto seen = [](const std::vector<lab::StaleRecord>& stale) {
    REQUIRE_FALSE(stale.empty());
    for (const lab::StaleRecord& record : stale) CHECK(record.what == "scores");
  };
  seen(stale_after_swaps<OneBitOff<true, 0>>());
  seen(stale_after_swaps<OneBitOff<false, 0>>());
  seen(stale_after_swaps<OneBitOff<false, 1>>());
}
