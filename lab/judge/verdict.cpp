#include "lab/judge/verdict.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"
#include "lab/enumerate/not_enumerable.hpp"
#include "lab/laws/stationary_law.hpp"
#include "reference/analysis/total_variation.hpp"

namespace tempera::lab {
namespace {

using reference::Law;
using reference::Matrix;
using reference::Rational;
using reference::to_string;

/// Keeps what was offered with the fewest tokens, then first in order.
template <class Finding>
class Smallest {
 public:
  void offer(std::size_t tokens, std::size_t x, std::size_t y, const Finding& finding) {
    const auto size = std::tuple(tokens, x, y);
    if (found_ && size_ <= size) return;
    size_ = size;
    found_ = finding;
  }
  const std::optional<Finding>& found() const { return found_; }

 private:
  std::optional<Finding> found_;
  std::tuple<std::size_t, std::size_t, std::size_t> size_;
};

bool reaches_all(const Matrix& matrix, const Law& target, bool forwards) {
  const std::size_t n = matrix.rows();
  std::size_t first = 0;
  while (target[first] == 0) ++first;
  std::vector<bool> reached(n);
  std::vector<std::size_t> open{first};
  reached[first] = true;
  while (!open.empty()) {
    const std::size_t x = open.back();
    open.pop_back();
    for (std::size_t y = 0; y < n; ++y) {
      if (reached[y] || (forwards ? matrix(x, y) : matrix(y, x)) == 0) continue;
      reached[y] = true;
      open.push_back(y);
    }
  }
  for (std::size_t x = 0; x < n; ++x)
    if (target[x] != 0 && !reached[x]) return false;
  return true;
}

}  // namespace

KernelVerdict judge_kernel(const JudgedKernel& kernel, const JudgedCase& judged,
                           const Rational& rounding) {
  const std::size_t n = judged.size();
  const Law& target = judged.law();
  KernelVerdict verdict;
  verdict.states = n;
  Matrix matrix(n, n);
  Smallest<KernelVerdict::Escape> escapes;
  Law lost(n);
  for (std::size_t x = 0; x < n; ++x) {
    const JudgedState from = judged.state(x);
    Rational total = 0;
    for (const auto& [state, probability] : kernel(judged, from)) {
      total += probability;
      if (state == lost_state)
        lost[x] += probability;
      else if (const auto y = judged.find(state))
        matrix(x, *y) += probability;
      else
        escapes.offer(judged.tokens(x), x, 0, {judged.name(from), judged.name(state), probability});
    }
    if (total != 1) throw NotEnumerable("a row of the kernel sums to " + to_string(total));
  }
  verdict.escape = escapes.found();

  Smallest<KernelVerdict::Unbalanced> unbalanced;
  Smallest<KernelVerdict::Moved> moved;
  Law after(n);
  Rational all_lost = 0;
  for (std::size_t x = 0; x < n; ++x) {
    all_lost += target[x] * lost[x];
    verdict.lost = std::max(verdict.lost, lost[x]);
  }
  // Whether a number is wrong whatever the part of `missing` is that belongs to it.
  const auto is_wrong = [&](const Rational& number, const Rational& missing,
                            const Rational& right) {
    return number - right > rounding || right - number > rounding + missing;
  };
  for (std::size_t x = 0; x < n; ++x) {
    for (std::size_t y = 0; y < n; ++y) {
      after[y] += target[x] * matrix(x, y);
      if (y <= x) continue;
      const Rational forward = target[x] * matrix(x, y);
      const Rational reverse = target[y] * matrix(y, x);
      if (is_wrong(forward, target[x] * lost[x], reverse) &&
          is_wrong(reverse, target[y] * lost[y], forward))
        unbalanced.offer(
            judged.tokens(x) + judged.tokens(y), x, y,
            {judged.name(judged.state(x)), judged.name(judged.state(y)), forward, reverse});
    }
  }
  for (std::size_t x = 0; x < n; ++x)
    if (is_wrong(after[x], all_lost, target[x]))
      moved.offer(judged.tokens(x), x, 0, {judged.name(judged.state(x)), target[x], after[x]});
  verdict.unbalanced = unbalanced.found();
  verdict.moved = moved.found();
  verdict.tv_one_step = reference::total_variation(after, target);
  verdict.irreducible = reaches_all(matrix, target, true) && reaches_all(matrix, target, false);
  if (verdict.stochastic() && n <= judged_limit_law) {
    try {
      Matrix staying = matrix;
      for (std::size_t x = 0; x < n; ++x) staying(x, x) += lost[x];
      verdict.tv_limit = reference::total_variation(exact_stationary_law(staying), target);
    } catch (const ReducibleChain&) {
      verdict.tv_limit.reset();  // more than one stationary law
    }
  }
  verdict.matrix = std::move(matrix);
  return verdict;
}

std::string explanation(const KernelVerdict& verdict) {
  if (verdict.escape)
    return "(" + verdict.escape->from + ") goes to (" + verdict.escape->to +
           "), which is not a state, with probability " + to_string(verdict.escape->probability);
  std::string text;
  if (verdict.unbalanced)
    text = "(" + verdict.unbalanced->from + ") -> (" + verdict.unbalanced->to + ") flows " +
           to_string(verdict.unbalanced->forward_flow) + ", back " +
           to_string(verdict.unbalanced->reverse_flow);
  if (verdict.moved)
    text += "; one step changes the mass of (" + verdict.moved->state + ") from " +
            to_string(verdict.moved->before) + " to " + to_string(verdict.moved->after);
  if (verdict.irreducible) return text.empty() ? "it is sound" : text;
  return (text.empty() ? "" : text + "; ") +
         "reducible: some state of the target is not reached from every other";
}

}  // namespace tempera::lab
