#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/cached_ratio.hpp"
#include "reference/kernels/continuation_mass.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::FunctionsUnderTest;

/// The record's probability without the factor of its last token.
Rational without_last_factor(const RecordSpace& space, std::size_t s) {
  const std::span<const Token> tokens = space[s].tokens;
  const TokenRow& row = space.model().token_row(tokens.first(tokens.size() - 1));
  return space.likelihood(s) / row[tokens.back()];
}

/// Π z_α(x_{<t}) over t = r..end, as far as the record goes.
Rational normalizers(const RecordSpace& space, const Power& power, std::size_t s, std::size_t r,
                     std::size_t end) {
  Rational product = 1;
  const std::span<const Token> tokens = space[s].tokens;
  for (std::size_t t = r; t <= std::min(end, tokens.size()); ++t)
    product *= token_normalizer(space.model().token_row(tokens.first(t - 1)), power);
  return product;
}

}  // namespace

std::vector<Planted> planted_in_records() {
  return {
      {"padded_law", "a row that does not sum to one",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_row = [](const FiniteModel& model,
                                                             std::span<const Token> history) {
           TokenRow row = model.token_row(history);
           if (history.size() == 1) row[0] /= 2;
           return row;
         };
       }},
      {"padded_law", "a record without the factor of its last token",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().likelihood = without_last_factor;
       }},
      {"record_law", "the first record counted twice",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().base_law = [](const FixedHorizonSpace& space) {
           Law law = base_law(space);
           law[0] *= 2;
           return law;
         };
       }},
      {"record_law", "a record of probability zero",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().base_law = [](const FixedHorizonSpace& space) {
           Law law = base_law(space);
           law[1] += law[0];
           law[0] = 0;
           return law;
         };
       }},
      {"terminated_law", "a record without the factor of its last token",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().likelihood = without_last_factor;
       }},
      {"terminated_law", "padding that contributes one half",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().likelihood = [](const RecordSpace& space,
                                                              std::size_t s) {
           const auto padding = static_cast<unsigned>(space.horizon() - space[s].length());
           return Rational(space.likelihood(s) * integer_power(Rational(1, 2), padding));
         };
       }},
      {"power_target", "the normalization left out",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_target = [](const FixedHorizonSpace& space,
                                                                const Power& power) {
           Law law;
           for (std::size_t s = 0; s < space.size(); ++s)
             law.push_back(power.raise(space.likelihood(s)));
           return law;
         };
       }},
      {"power_target", "p0 itself",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_target =
             [](const FixedHorizonSpace& space, const Power&) { return base_law(space); };
       }},
      {"token_proposal", "the normalization left out",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_proposal = [](const TokenRow& row,
                                                                  const Power& power) {
           TokenRow g;
           for (const Rational& p : row) g.push_back(power.raise(p));
           return g;
         };
       }},
      {"token_proposal", "the row itself, at every power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_proposal = [](const TokenRow& row,
                                                                  const Power&) { return row; };
       }},
      {"padding_normalizer", "padding proposed with one half",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().padded_token = [](const RecordSpace& space,
                                                                const Power& power) {
           return lab::TokenLaw([&space, g = lab::padded_token_law(space, power)](auto y, auto t) {
             return Rational(g(y, t) / (t > space[y].length() ? 2 : 1));
           });
         };
       }},
      {"padding_normalizer", "a cached zeta on the padding",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().cached_zeta = [](const FiniteModel&, std::size_t,
                                                               double, const std::vector<Token>&,
                                                               std::size_t) { return 1e-300; };
       }},
      {"suffix_proposal", "a proposal that need not share the beginning",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().suffix_proposal = [](const RecordSpace& space,
                                                                   const Power& power) {
           return lab::SuffixLaw([q = std::make_shared<SuffixProposal>(space, power)](
                                     auto r, auto, auto y) { return q->suffix(y, r); });
         };
       }},
      {"self_transition", "a restart in the padding that draws the record anew",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().suffix_proposal = [](const RecordSpace& space,
                                                                   const Power& power) {
           return lab::SuffixLaw(
               [&space, q = lab::suffix_law(space, power)](auto r, auto x, auto y) {
                 return q(r > space[x].length() ? 1 : r, x, y);
               });
         };
       }},
      {"power_conditional", "the tokenwise proposal",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_conditional =
             [](const FixedHorizonSpace& space, const Power& power,
                std::span<const Token> history) {
               return token_proposal(space.model().token_row(history), power);
             };
       }},
      {"proposal_is_conditional", "a continuation mass that is always one",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().continuation_mass =
             [](const FixedHorizonSpace&, const Power&, std::span<const Token>, Token) {
               return Rational(1);
             };
       }},
      {"proposal_is_conditional", "a proposal that ignores the power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_proposal = [](const TokenRow& row,
                                                                  const Power&) { return row; };
       }},
      {"not_tokenwise", "the target of another power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_target = [](const FixedHorizonSpace& space,
                                                                const Power&) {
           return power_target(space, Power(Rational(3)));
         };
       }},
      {"not_tokenwise", "a proposal of 1/3 and 2/3",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_proposal = [](const TokenRow&, const Power&) {
           return TokenRow{Rational(1, 3), Rational(2, 3)};
         };
       }},
      {"cached_ratio", "normalizers that sum the row and not its powers",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_normalizer = [](const TokenRow&, const Power&) {
           return Rational(1);
         };
       }},
      {"cached_ratio_length", "the current record's sum cut at the candidate's length",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().cached_ratio = [](const RecordSpace& space,
                                                                const Power& power, std::size_t x,
                                                                std::size_t y, std::size_t r) {
           const std::size_t end = space[y].length();
           return Rational(normalizers(space, power, y, r, end) /
                           normalizers(space, power, x, r, end));
         };
       }},
      {"block_extension", "an extension at power one",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().block_extension =
             [](const FixedHorizonSpace& shorter, const FixedHorizonSpace& longer, const Power&) {
               return block_extension(shorter, longer, Power(Rational(1)));
             };
       }},
  };
}

}  // namespace tempera::test
