#include "lab/defects/small_kernels.hpp"

#include <algorithm>

#include "reference/kernels/token_proposal.hpp"

namespace tempera::lab {

using reference::Power;
using reference::TokenRow;

const TokenRow& row_after(const JudgedCase& judged, std::span<const reference::Token> prefix) {
  return judged.model().token_row(prefix);
}

bool has_ended(const JudgedCase& judged, const Tokens& record) {
  return !record.empty() && judged.model().is_terminal(record.back());
}

Rational likelihood_of(const JudgedCase& judged, const Tokens& record) {
  Rational likelihood = 1;
  for (std::size_t t = 0; t < record.size() && likelihood != 0; ++t) {
    if (t > 0 && judged.model().is_terminal(record[t - 1])) return 0;
    likelihood *= row_after(judged, std::span(record).first(t))[record[t]];
  }
  return likelihood;
}

Rational probability_of(const Tokens& record, std::size_t kept,
                        const std::function<TokenRow(const Tokens&)>& tickets) {
  Rational probability = 1;
  for (std::size_t t = kept; t < record.size() && probability != 0; ++t) {
    const TokenRow row =
        tickets(Tokens(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(t)));
    Rational total = 0;
    for (const Rational& ticket : row) total += ticket;
    probability *= row[record[t]] / total;
  }
  return probability;
}

Rational powered_of(const JudgedCase& judged, const Tokens& record, std::size_t kept,
                    const Power& power) {
  Rational powered = 1;
  for (std::size_t t = kept; t < record.size(); ++t)
    powered *= power.raise(row_after(judged, std::span(record).first(t))[record[t]]);
  return powered;
}

Rational weight_of(const JudgedCase& judged, const Tokens& record, std::size_t kept,
                   const Power& power) {
  Rational weight = 1;
  for (std::size_t t = kept; t < record.size(); ++t)
    weight *= reference::token_normalizer(row_after(judged, std::span(record).first(t)), power);
  return weight;
}

SmallMove::SmallMove()
    : kept([](const JudgedCase& judged, const Tokens&, KernelLottery& lottery) {
        return lottery.draw(std::vector<Rational>(judged.horizon(), Rational(1)));
      }),
      is_open([](const JudgedCase& judged, const Tokens& record) {
        return record.size() < judged.horizon() && !has_ended(judged, record);
      }),
      tickets([](const JudgedCase& judged, const Tokens& prefix, const Power& power) {
        return reference::token_proposal(row_after(judged, prefix), power);
      }),
      draw([](KernelLottery& lottery, const Row& row) { return lottery.draw(row); }),
      ratio([](const JudgedCase& judged, const Tokens& x, const Tokens& y, std::size_t shared,
               const Power& power) {
        return Rational(weight_of(judged, y, shared, power) / weight_of(judged, x, shared, power));
      }),
      accept([](KernelLottery& lottery, const Rational& value) {
        return lottery.happens(value < 1 ? value : Rational(1));
      }) {}

Tokens SmallMove::operator()(const JudgedCase& judged, const Tokens& x, const Power& power,
                             KernelLottery& lottery) const {
  const std::size_t shared = kept(judged, x, lottery);
  if (shared >= x.size()) return x;
  Tokens y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(shared));
  while (is_open(judged, y))
    y.push_back(static_cast<reference::Token>(draw(lottery, tickets(judged, y, power))));
  return accept(lottery, ratio(judged, x, y, shared, power)) ? y : x;
}

SmallRound::SmallRound()
    : move([](const JudgedCase& judged, JudgedState& state, std::size_t k, KernelLottery& lottery) {
        static const SmallMove local;
        state[k] = local(judged, state[k], judged.target().powers[k], lottery);
      }),
      swap_ratio([](const JudgedCase& judged, const JudgedState& state, std::size_t k) {
        const auto& powers = judged.target().powers;
        // A defect may have drawn a record that the model cannot make.
        const Rational above = likelihood_of(judged, state[k + 1]);
        if (above == 0) return Rational(1);
        return Power(powers[k + 1].value() - powers[k].value())
            .raise(likelihood_of(judged, state[k]) / above);
      }),
      exchange([](JudgedState& state, std::size_t k) { std::swap(state[k], state[k + 1]); }),
      edges([](const JudgedCase& judged) {
        std::vector<std::size_t> all;
        for (std::size_t k = 0; k + 1 < judged.rungs(); ++k) all.push_back(k);
        return all;
      }) {}

JudgedState SmallRound::operator()(const JudgedCase& judged, const JudgedState& from,
                                   KernelLottery& lottery) const {
  JudgedState state = from;
  for (std::size_t k = 0; k < state.size(); ++k) move(judged, state, k, lottery);
  for (const std::size_t k : edges(judged)) {
    const Rational ratio = swap_ratio(judged, state, k);
    if (lottery.happens(ratio < 1 ? ratio : Rational(1))) exchange(state, k);
  }
  return state;
}

JudgedKernel kernel_of(const SmallMove& move) {
  return enumerated(
      [move](const JudgedCase& judged, const JudgedState& from, KernelLottery& lottery) {
        return JudgedState{move(judged, from.front(), judged.target().powers.front(), lottery)};
      });
}

JudgedKernel kernel_of(const SmallRound& round) { return enumerated(round); }

}  // namespace tempera::lab
