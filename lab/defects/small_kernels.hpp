#pragma once

#include <functional>

#include "lab/judge/enumerated_kernel.hpp"

namespace tempera::lab {

/// Generated tokens of one record.
using Tokens = std::vector<reference::Token>;

/// One local move L_k in rationals, each of its decisions replaceable: a defect replaces one.
/// `power` is that of the rung.
struct SmallMove {
  using Row = reference::TokenRow;
  /// Positions that are kept: r - 1 in 0..T - 1, uniform.
  std::function<std::size_t(const JudgedCase&, const Tokens& x, KernelLottery&)> kept;
  /// Whether a token follows.
  std::function<bool(const JudgedCase&, const Tokens&)> is_open;
  /// What the next token is drawn from: p0^α.
  std::function<Row(const JudgedCase&, const Tokens& prefix, const reference::Power&)> tickets;
  /// A token drawn from them.
  std::function<std::size_t(KernelLottery&, const Row&)> draw;
  /// R of eq:implementation-local-mh-acceptance.
  std::function<Rational(const JudgedCase&, const Tokens& x, const Tokens& y, std::size_t kept,
                         const reference::Power&)>
      ratio;
  /// Whether y is accepted, with probability 1 ∧ R.
  std::function<bool(KernelLottery&, const Rational& ratio)> accept;

  /// The paper's.
  SmallMove();
  Tokens operator()(const JudgedCase& judged, const Tokens& x, const reference::Power& power,
                    KernelLottery& lottery) const;
};

/// One round R C on several rungs, each decision replaceable.
struct SmallRound {
  /// L_k of rung k.
  std::function<void(const JudgedCase&, JudgedState&, std::size_t k, KernelLottery&)> move;
  /// The exchange ratio of edge k, (p0(x_k) / p0(x_{k+1}))^{α_{k+1} - α_k}.
  std::function<Rational(const JudgedCase&, const JudgedState&, std::size_t k)> swap_ratio;
  /// What an accepted exchange of edge k does.
  std::function<void(JudgedState&, std::size_t k)> exchange;
  /// The edges of a sweep, in order.
  std::function<std::vector<std::size_t>(const JudgedCase&)> edges;

  /// The paper's, with the ordered sweep.
  SmallRound();
  JudgedState operator()(const JudgedCase& judged, const JudgedState& from,
                         KernelLottery& lottery) const;
};

/// p0(· | prefix).
const reference::TokenRow& row_after(const JudgedCase& judged, std::span<const reference::Token>);
/// p0(record); 0 if a token has probability 0 or follows a terminal one.
Rational likelihood_of(const JudgedCase& judged, const Tokens& record);
/// Π_{t >= kept} p0(x_t | x_{<t})^α / g(x_t).
Rational weight_of(const JudgedCase& judged, const Tokens& record, std::size_t kept,
                   const reference::Power& power);
/// Probability of the tokens after `kept` under rows that are given up to proportion.
Rational probability_of(const Tokens& record, std::size_t kept,
                        const std::function<reference::TokenRow(const Tokens& prefix)>& tickets);
/// Π_{t >= kept} p0(x_t | x_{<t})^α.
Rational powered_of(const JudgedCase& judged, const Tokens& record, std::size_t kept,
                    const reference::Power& power);
/// Whether the record's last token is terminal.
bool has_ended(const JudgedCase& judged, const Tokens& record);

/// A move, or a round, as a kernel to be judged.
JudgedKernel kernel_of(const SmallMove& move);
JudgedKernel kernel_of(const SmallRound& round);

}  // namespace tempera::lab
