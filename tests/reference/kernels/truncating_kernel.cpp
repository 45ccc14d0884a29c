#include "reference/kernels/truncating_kernel.hpp"

#include "reference/analysis/invariance.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

// The sampler step by step: every restart, every continuation token by token, accepted by the ratio
// of token normalizers through the candidate's end.
class TruncatingSteps {
 public:
  TruncatingSteps(const ComparisonSpace& space, const Power& power)
      : space_(space), power_(power), kernel_(space.size(), space.size()) {}

  Matrix enumerate() {
    for (std::size_t x = 0; x < space_.size(); ++x) {
      const auto& tokens = space_[x].tokens;
      for (std::size_t r = 1; r <= tokens.size(); ++r) {
        std::vector<Token> kept(tokens.begin(), tokens.begin() + static_cast<long>(r) - 1);
        regenerate(x, r, kept, Rational(1) / tokens.size());
      }
    }
    return kernel_;
  }

 private:
  Rational normalizers(const std::vector<Token>& tokens, std::size_t r, std::size_t end) const {
    Rational product = 1;
    for (std::size_t t = r; t <= end; ++t) {
      const auto history = std::span(tokens).first(t - 1);
      product *= token_normalizer(space_.model().token_row(history), power_);
    }
    return product;
  }

  void regenerate(std::size_t x, std::size_t r, std::vector<Token>& y, const Rational& mass) {
    const auto& current = space_[x].tokens;
    const bool terminated = y.size() >= r && space_.model().is_terminal(y.back());
    if (terminated || y.size() == current.size()) {
      const Rational ratio = normalizers(y, r, y.size()) / normalizers(current, r, y.size());
      const Rational accepted = ratio < 1 ? ratio : Rational(1);
      kernel_(x, *space_.find(y)) += mass * accepted;
      kernel_(x, x) += mass * (1 - accepted);
      return;
    }
    const TokenRow proposal = token_proposal(space_.model().token_row(y), power_);
    for (Token v = 0; v < proposal.size(); ++v) {
      if (proposal[v] == 0) continue;
      y.push_back(v);
      regenerate(x, r, y, mass * proposal[v]);
      y.pop_back();
    }
  }

  const ComparisonSpace& space_;
  const Power power_;
  Matrix kernel_;
};

}  // namespace

TEST_CASE("the four-state truncating kernel is the paper's") {  // eq:condensed-fixed-kernel
  const ComparisonSpace space(four_state(), 2);
  const Matrix kernel = truncating_kernel(space, Power(2));
  CHECK(kernel == matrix_of({{q("1/2"), q("0"), q("0"), q("1/2")},
                             {q("0"), q("3/8"), q("3/8"), q("1/4")},
                             {q("0"), q("3/8"), q("3/8"), q("1/4")},
                             {q("1/2"), q("0"), q("0"), q("1/2")}}));
  // eq:condensed-invariance-test
  CHECK(FactoredKernel(kernel).apply(power_target(space, Power(2))) ==
        Law{q("1/3"), q("1/8"), q("1/8"), q("5/12")});
}

TEST_CASE("laws of the truncating kernel") {
  law("it is the sampler, step by step", [] {
    const ComparisonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    RC_ASSERT(truncating_kernel(space, power) == TruncatingSteps(space, power).enumerate());
  });

  law("it is a kernel that never lengthens a record", [] {
    const ComparisonSpace space(random::model(), random::horizon());
    const Matrix kernel = truncating_kernel(space, random::power());
    for (std::size_t x = 0; x < space.size(); ++x) {
      Rational total = 0;
      for (std::size_t y = 0; y < space.size(); ++y) {
        RC_ASSERT(kernel(x, y) >= 0);
        RC_ASSERT(kernel(x, y) == 0 || space[y].length() <= space[x].length());
        total += kernel(x, y);
      }
      RC_ASSERT(total == 1);
    }
  });

  law("it leaves the target exactly when target mass flows across some length", [] {
    const ComparisonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const Law target = power_target(space, power);
    const Matrix kernel = truncating_kernel(space, power);
    bool flows = false;
    for (std::size_t h = 1; h < space.horizon(); ++h) {
      flows = flows || rung_bias(space, kernel, target, h).flow > 0;
    }
    RC_CLASSIFY(flows);
    RC_ASSERT(flows ==
              first_violation_of_invariance(FactoredKernel(kernel), target, token_counts(space))
                  .has_value());
  });
}
