#include "lab/contest/coupled_moves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reference/kernels/token_proposal.hpp"

namespace tempera::lab {
namespace {

using reference::Law;
using reference::Matrix;
using reference::Rational;
using reference::Token;

/// The common part of two laws stays together, and the rest of each is independent.
void couple_maximally(const Law& p, const Law& q, const auto& take) {
  Law common(p.size());
  Rational rest = 1;
  for (std::size_t v = 0; v < p.size(); ++v) {
    common[v] = std::min(p[v], q[v]);
    rest -= common[v];
    if (common[v] > 0) take(v, v, common[v]);
  }
  if (rest == 0) return;
  for (std::size_t v = 0; v < p.size(); ++v)
    for (std::size_t u = 0; u < q.size(); ++u)
      if (p[v] > common[v] && q[u] > common[u])
        take(v, u, (p[v] - common[v]) * (q[u] - common[u]) / rest);
}

/// One uniform number selects in both laws: the intervals of their entries are laid over each
/// other.
void share_word(const Law& p, const Law& q, const auto& take) {
  Rational p_end = 0;
  Rational at = 0;
  std::size_t u = 0;
  Rational q_end = q[0];
  for (std::size_t v = 0; v < p.size(); ++v) {
    p_end += p[v];
    while (at < p_end) {
      while (q_end <= at) q_end += q[++u];
      const Rational end = std::min(p_end, q_end);
      take(v, u, end - at);
      at = end;
    }
  }
}

/// Both acceptances by one word: X and Y accept with a and b.
void accept_both(const auto& a, const auto& b, const auto& take) {
  const auto both = std::min(a, b);
  const auto any = std::max(a, b);
  take(true, true, both);
  take(true, false, a - both);
  take(false, true, b - both);
  take(false, false, 1 - any);
}

}  // namespace

CoupledMoves::CoupledMoves(const reference::FixedHorizonSpace& space, const reference::Power& power)
    : space_(space), weights_(space.size(), 1), starts_(space.size(), 1) {
  for (std::size_t x = 0; x < space.size(); ++x) {
    Prefix prefix;
    for (const Token token : space[x].tokens) {
      const auto& row = space.model().token_row(prefix);
      if (!proposals_.contains(prefix)) proposals_[prefix] = token_proposal(row, power);
      weights_[x] *= token_normalizer(row, power);
      starts_[x] *= proposals_.at(prefix)[token];
      prefix.push_back(token);
    }
  }
}

CoupledMoves::Drawn CoupledMoves::kept(std::size_t x, std::size_t r) const {
  const auto& tokens = space_[x].tokens;
  if (tokens.size() < r) return {tokens, true};
  return {{tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(r - 1)}, false};
}

void CoupledMoves::draw(const Drawn& of_x, const Drawn& of_y, const Rational& share,
                        Coupling coupling, const auto& take) const {
  if (of_x.has_ended && of_y.has_ended)
    return take(*space_.find(of_x.tokens), *space_.find(of_y.tokens), share);
  const auto longer = [&](const Drawn& drawn, std::size_t token) {
    if (drawn.has_ended) return drawn;
    Drawn next = drawn;
    next.tokens.push_back(static_cast<Token>(token));
    next.has_ended = next.tokens.size() == space_.horizon() ||
                     space_.model().is_terminal(static_cast<Token>(token));
    return next;
  };
  const auto go_on = [&](std::size_t v, std::size_t u, const Rational& part) {
    draw(longer(of_x, v), longer(of_y, u), share * part, coupling, take);
  };
  const Law& p = proposals_.at((of_x.has_ended ? of_y : of_x).tokens);
  const Law& q = proposals_.at((of_y.has_ended ? of_x : of_y).tokens);
  if (coupling == Coupling::words)
    share_word(p, q, go_on);
  else
    couple_maximally(p, q, go_on);
}

Matrix CoupledMoves::after(std::size_t x, std::size_t y, std::size_t r, Coupling coupling) const {
  Matrix law(space_.size(), space_.size());
  draw(kept(x, r), kept(y, r), 1, coupling,
       [&](std::size_t to_x, std::size_t to_y, const Rational& share) {
         const Rational a = std::min<Rational>(1, weights_[to_x] / weights_[x]);
         const Rational b = std::min<Rational>(1, weights_[to_y] / weights_[y]);
         accept_both(a, b, [&](bool moves_x, bool moves_y, const Rational& part) {
           law(moves_x ? to_x : x, moves_y ? to_y : y) += share * part;
         });
       });
  return law;
}

Law CoupledMoves::alone(std::size_t x) const {
  Law law(space_.size());
  const Matrix both = after(x, x, Coupling::words);
  for (std::size_t to = 0; to < law.size(); ++to) law[to] = both(to, to);
  return law;
}

Matrix CoupledMoves::after(std::size_t x, std::size_t y, Coupling coupling) const {
  Matrix law(space_.size(), space_.size());
  if (coupling == Coupling::moves) {
    couple_maximally(alone(x), alone(y), [&](std::size_t v, std::size_t u, const Rational& share) {
      law(v, u) += share;
    });
    return law;
  }
  const Rational chosen(1, space_.horizon());
  for (std::size_t r = 1; r <= space_.horizon(); ++r) {
    const Matrix at = after(x, y, r, coupling);
    for (std::size_t v = 0; v < law.rows(); ++v)
      for (std::size_t u = 0; u < law.columns(); ++u)
        if (at(v, u) != 0) law(v, u) += chosen * at(v, u);
  }
  return law;
}

namespace {

/// The pairs of a ladder of one rung or two. A pair's number has the digits x_1, y_1, x_2, y_2 in
/// base n.
class Pairs {
 public:
  Pairs(const reference::FixedHorizonSpace& space, const reference::Ladder& ladder,
        Coupling coupling)
      : n_(space.size()), rungs_(ladder.rungs()) {
    for (std::size_t k = 0; k < rungs_; ++k) {
      const CoupledMoves moves(space, ladder[k]);
      auto& [starts, steps] = kernels_[k];
      for (const Rational& share : moves.starts()) starts.push_back(share.convert_to<double>());
      for (std::size_t pair = 0; pair < n_ * n_; ++pair) {
        const Matrix law = moves.after(pair / n_, pair % n_, coupling);
        for (std::size_t to = 0; to < n_ * n_; ++to)
          if (law.entries()[to] != 0)
            steps.push_back({pair, to, law.entries()[to].convert_to<double>()});
      }
    }
    if (rungs_ == 2)
      for (std::size_t state = 0; state < n_ * n_; ++state) {
        const Rational ratio = space.likelihood(state / n_) / space.likelihood(state % n_);
        const Rational power = ladder[1].value() - ladder[0].value();
        swaps_.push_back(
            std::min(1.0, std::pow(ratio.convert_to<double>(), power.convert_to<double>())));
      }
  }

  std::size_t size() const { return rungs_ == 1 ? n_ * n_ : n_ * n_ * n_ * n_; }
  /// The states of X and of Y: the records of their rungs.
  std::array<std::size_t, 2> states(std::size_t pair) const {
    if (rungs_ == 1) return {pair / n_, pair % n_};
    const std::size_t first = pair / (n_ * n_);
    const std::size_t second = pair % (n_ * n_);
    return {first / n_ * n_ + second / n_, first % n_ * n_ + second % n_};
  }
  double start(std::size_t state) const {
    return rungs_ == 1 ? kernels_[0].starts[state]
                       : kernels_[0].starts[state / n_] * kernels_[1].starts[state % n_];
  }
  std::vector<double> after_round(const std::vector<double>& before) const {
    const std::size_t others = before.size() / (n_ * n_);
    std::vector<double> first(before.size());
    for (const Step& step : kernels_[0].steps)
      for (std::size_t other = 0; other < others; ++other)
        first[step.to * others + other] += before[step.from * others + other] * step.share;
    if (rungs_ == 1) return first;
    std::vector<double> second(before.size());
    for (std::size_t other = 0; other < before.size(); other += others)
      for (const Step& step : kernels_[1].steps)
        second[other + step.to] += first[other + step.from] * step.share;
    std::vector<double> swapped(before.size());
    for (std::size_t pair = 0; pair < before.size(); ++pair) {
      const auto [x, y] = states(pair);
      const std::array<std::size_t, 2> of_x{x / n_, x % n_};
      const std::array<std::size_t, 2> of_y{y / n_, y % n_};
      accept_both(swaps_[x], swaps_[y], [&](bool swaps_x, bool swaps_y, double share) {
        const std::size_t lower = of_x[swaps_x ? 1 : 0] * n_ + of_y[swaps_y ? 1 : 0];
        const std::size_t upper = of_x[swaps_x ? 0 : 1] * n_ + of_y[swaps_y ? 0 : 1];
        swapped[lower * others + upper] += share * second[pair];
      });
    }
    return swapped;
  }

 private:
  struct Step {
    std::size_t from = 0;
    std::size_t to = 0;
    double share = 0.0;
  };
  struct Kernel {
    std::vector<double> starts;
    std::vector<Step> steps;
  };

  std::size_t n_;
  std::size_t rungs_;
  std::array<Kernel, 2> kernels_;
  std::vector<double> swaps_;
};

}  // namespace

std::vector<double> meeting_law(const reference::FixedHorizonSpace& space,
                                const reference::Ladder& ladder, Coupling coupling, std::size_t lag,
                                double least) {
  const Pairs pairs(space, ladder, coupling);
  // X's first L rounds, as a pair of X with itself.
  std::vector<double> law(pairs.size());
  for (std::size_t pair = 0; pair < law.size(); ++pair)
    if (const auto [x, y] = pairs.states(pair); x == y) law[pair] = pairs.start(x);
  for (std::size_t round = 0; round < lag; ++round) law = pairs.after_round(law);
  std::vector<double> ahead(law.size());
  for (std::size_t pair = 0; pair < law.size(); ++pair) ahead[pairs.states(pair)[0]] += law[pair];
  for (std::size_t pair = 0; pair < law.size(); ++pair) {
    const auto [x, y] = pairs.states(pair);
    law[pair] = ahead[x] * pairs.start(y);
  }
  std::vector<double> apart;
  do {
    double share = 0.0;
    for (std::size_t pair = 0; pair < law.size(); ++pair) {
      if (const auto [x, y] = pairs.states(pair); x == y) law[pair] = 0.0;
      share += law[pair];
    }
    apart.push_back(share);
    law = pairs.after_round(law);
  } while (apart.back() >= least);
  return apart;
}

double bound_of(const std::vector<double>& apart, std::size_t lag, std::size_t round) {
  double sum = 0.0;
  for (std::size_t t = round; t < apart.size(); t += lag) sum += apart[t];
  return sum;
}

}  // namespace tempera::lab
