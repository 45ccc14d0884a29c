#include "reference/kernels/block_extension.hpp"

#include "reference/kernels/suffix_proposal.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("open records are continued, terminated ones padded") {
  const FiniteModel model = four_state();
  CHECK(block_extension(FixedHorizonSpace(model, 1), FixedHorizonSpace(model, 2), Power(2)) ==
        matrix_of({{q("1/2"), q("1/2"), q("0")}, {q("0"), q("0"), q("1")}}));
}

TEST_CASE("laws of block extension") {
  law("its rows sum to one, and from the empty record it is the full restart", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon();
    const FixedHorizonSpace longer(model, horizon);
    const Power power = random::power();
    for (std::size_t shorter = 0; shorter <= horizon; ++shorter) {
      const Matrix extension = block_extension(FixedHorizonSpace(model, shorter), longer, power);
      for (std::size_t x = 0; x < extension.rows(); ++x) {
        Rational total = 0;
        for (std::size_t y = 0; y < extension.columns(); ++y) total += extension(x, y);
        RC_ASSERT(total == 1);
      }
      if (shorter == 0) {
        const SuffixProposal proposal(longer, power);
        for (std::size_t y = 0; y < longer.size(); ++y) {
          RC_ASSERT(extension(0, y) == proposal(1, y, y));
        }
      }
    }
  });
}
