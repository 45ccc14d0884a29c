#include "reference/kernels/carried_chain.hpp"

#include <gmp.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "reference/numbers/all_cores.hpp"
#include "reference/numbers/common_denominator.hpp"

namespace tempera::reference {

TreeSwap::TreeSwap(const RecordTree& tree, const Power& lower, const Power& upper) : tree_(tree) {
  const Power difference(upper.value() - lower.value());
  const auto& likelihoods = tree.likelihoods();
  Integer above = 1, below = 1;
  for (const Rational& likelihood : likelihoods) {
    scores_.push_back(difference.raise(likelihood));
    above = lcm(above, Integer(numerator(scores_.back())));
    below = lcm(below, Integer(boost::multiprecision::denominator(scores_.back())));
  }
  denominator_ = above * below;
  std::vector<RecordTree::Index> ascending(likelihoods.size());
  std::iota(ascending.begin(), ascending.end(), RecordTree::Index{0});
  std::sort(ascending.begin(), ascending.end(),
            [&](auto a, auto b) { return likelihoods[a] < likelihoods[b]; });
  std::vector<RecordTree::Index> rank(likelihoods.size());
  for (std::size_t i = 0; i < ascending.size(); ++i)
    rank[ascending[i]] = static_cast<RecordTree::Index>(i);
  for (std::size_t x = 0; x < tree.size(); ++x) rank_.push_back(rank[tree.likelihood(x)]);
}

// Every score divides one of its two factors.
bool TreeSwap::admits(std::uint64_t prime) const {
  return mpz_divisible_ui_p(denominator_.backend().data(), prime) == 0;
}

TreeSwap::Modulo::Modulo(const TreeSwap& swap, const PrimeField& field)
    : swap_(swap), field_(field) {
  std::vector<Element> scores, inverses;
  for (const Rational& score : swap.scores_) {
    scores.push_back(field.of(score));
    inverses.push_back(field.of(Rational(1 / score)));
  }
  for (std::size_t x = 0; x < swap.tree_.size(); ++x) {
    score_.push_back(scores[swap.tree_.likelihood(x)]);
    inverse_.push_back(inverses[swap.tree_.likelihood(x)]);
  }
}

template <class Exchange>
void TreeSwap::Modulo::for_each_pair(std::size_t outer, std::size_t inner,
                                     Exchange&& exchange) const {
  const std::size_t n = score_.size();
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t x = 0; x < n; ++x) {
      for (std::size_t y = 0; y < x; ++y) {
        const std::size_t at = ((o * n + x) * n + y) * inner;
        const std::size_t exchanged = ((o * n + y) * n + x) * inner;
        if (swap_.is_certain(x, y))
          exchange(at, exchanged, field_.multiply(score_[y], inverse_[x]));
        else
          exchange(exchanged, at, field_.multiply(score_[x], inverse_[y]));
      }
    }
  }
}

// The less likely of two records stays below with the probability that is left, the likelier never.
void TreeSwap::Modulo::apply(std::vector<Element>& law, std::size_t outer,
                             std::size_t inner) const {
  for_each_pair(outer, inner, [&](std::size_t certain, std::size_t likely, Element accepted) {
    for (std::size_t i = 0; i < inner; ++i) {
      const Element risen = field_.multiply(law[likely + i], accepted);
      const Element kept = field_.subtract(law[likely + i], risen);
      law[likely + i] = field_.add(law[certain + i], kept);
      law[certain + i] = risen;
    }
  });
}

void TreeSwap::Modulo::apply_tagged(std::vector<Element>& below, std::vector<Element>& above,
                                    std::size_t outer, std::size_t inner) const {
  for_each_pair(outer, inner, [&](std::size_t certain, std::size_t likely, Element accepted) {
    for (std::size_t i = 0; i < inner; ++i) {
      const Element from_below = field_.multiply(below[likely + i], accepted);
      const Element from_above = field_.multiply(above[likely + i], accepted);
      const Element kept_below = field_.subtract(below[likely + i], from_below);
      const Element kept_above = field_.subtract(above[likely + i], from_above);
      below[likely + i] = field_.add(kept_below, above[certain + i]);
      above[likely + i] = field_.add(kept_above, below[certain + i]);
      below[certain + i] = from_above;
      above[certain + i] = from_below;
    }
  });
  // A record beside itself is exchanged for certain.
  const std::size_t n = score_.size();
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t i = 0; i < inner; ++i)
        std::swap(below[((o * n + x) * n + x) * inner + i],
                  above[((o * n + x) * n + x) * inner + i]);
}

CarriedChain::CarriedChain(const RecordTree& tree, std::size_t rungs)
    : tree_(&tree), rungs_(rungs) {
  Integer size = 1;
  for (std::size_t k = 0; k < rungs; ++k) size *= tree.size();
  if (size > carried_joint_limit)
    throw BadInput("ladder",
                   std::to_string(rungs) + " rungs of " + std::to_string(tree.size()) +
                       " records give " + size.str() + " joint states, more than the limit of " +
                       std::to_string(carried_joint_limit),
                   "use fewer rungs, a smaller horizon or a smaller model");
  size_ = size.convert_to<std::size_t>();
}

void CarriedChain::then_move(std::size_t k, std::shared_ptr<const TreeKernel> kernel) {
  if (k >= rungs_ || &kernel->tree() != tree_) throw Bug("another space");
  factors_.push_back({k, std::move(kernel), nullptr});
}

void CarriedChain::then_swap(std::size_t k, std::shared_ptr<const TreeSwap> swap) {
  if (k + 1 >= rungs_) throw Bug("no such edge");
  factors_.push_back({k, nullptr, std::move(swap)});
}

void CarriedChain::then(const CarriedChain& next) {
  if (next.tree_ != tree_ || next.rungs_ != rungs_) throw Bug("another space");
  factors_.insert(factors_.end(), next.factors_.begin(), next.factors_.end());
}

Integer CarriedChain::denominator() const {
  Integer denominator = 1;
  for (const Factor& factor : factors_)
    denominator *= factor.kernel ? factor.kernel->denominator() : factor.swap->denominator();
  return denominator;
}

bool CarriedChain::admits(std::uint64_t prime) const {
  // Each once, however often it acts.
  std::map<const void*, bool> known;
  return std::all_of(factors_.begin(), factors_.end(), [&](const Factor& factor) {
    const void* const which = factor.kernel ? static_cast<const void*>(factor.kernel.get())
                                            : static_cast<const void*>(factor.swap.get());
    const auto [at, is_new] = known.try_emplace(which);
    if (is_new)
      at->second = factor.kernel ? factor.kernel->admits(prime) : factor.swap->admits(prime);
    return at->second;
  });
}

std::size_t CarriedChain::inner(std::size_t coordinate) const {
  std::size_t states = 1;
  for (std::size_t k = coordinate + 1; k < rungs_; ++k) states *= tree_->size();
  return states;
}

void CarriedChain::apply(const PrimeField& field, std::vector<PrimeField::Element>& law) const {
  std::map<const TreeKernel*, TreeKernel::Modulo> kernels;
  std::map<const TreeSwap*, TreeSwap::Modulo> swaps;
  const std::size_t n = tree_->size();
  for (const Factor& factor : factors_) {
    const std::size_t within = inner(factor.coordinate);
    if (factor.swap) {
      swaps.try_emplace(factor.swap.get(), *factor.swap, field)
          .first->second.apply(law, size_ / (within * n), within / n);
      continue;
    }
    auto& kernel = kernels.try_emplace(factor.kernel.get(), *factor.kernel, field).first->second;
    for (std::size_t outer = 0; outer < size_ / (within * n); ++outer)
      for (std::size_t i = 0; i < within; ++i)
        kernel.apply(law.data() + outer * n * within + i, within);
  }
}

void CarriedChain::apply_tagged(const PrimeField& field,
                                std::vector<std::vector<PrimeField::Element>>& law) const {
  const std::size_t n = tree_->size();
  for (const Factor& factor : factors_) {
    CarriedChain alone(*tree_, rungs_);
    alone.factors_.push_back(factor);
    const bool is_swap = factor.swap != nullptr;
    for (std::size_t rung = 0; rung < law.size(); ++rung)
      if (!is_swap || (rung != factor.coordinate && rung != factor.coordinate + 1))
        alone.apply(field, law[rung]);
    if (!is_swap) continue;
    const std::size_t within = inner(factor.coordinate);
    TreeSwap::Modulo(*factor.swap, field)
        .apply_tagged(law[factor.coordinate], law[factor.coordinate + 1], size_ / (within * n),
                      within / n);
  }
}

Law CarriedChain::apply(const Law& law) const {
  const OverCommonDenominator before = over_common_denominator(law);
  const Integer after = before.denominator * denominator();
  const Residues residues(prime_fields(msb(after) + 2, [&](std::uint64_t prime) {
    return admits(prime) && mpz_divisible_ui_p(before.denominator.backend().data(), prime) == 0;
  }));
  const auto& fields = residues.fields();
  std::vector<std::vector<PrimeField::Element>> carried(fields.size());
  on_all_cores(fields.size(), [&](std::size_t i) {
    const PrimeField& field = fields[i];
    const auto scale = field.inverse(field.of(before.denominator));
    for (const Integer& numerator : before.numerators)
      carried[i].push_back(field.multiply(field.of(numerator), scale));
    apply(field, carried[i]);
    const auto whole = field.of(after);
    for (auto& mass : carried[i]) mass = field.multiply(mass, whole);
  });
  Law result(size_);
  std::vector<PrimeField::Element> of_state(fields.size());
  for (std::size_t state = 0; state < size_; ++state) {
    for (std::size_t i = 0; i < fields.size(); ++i) of_state[i] = carried[i][state];
    result[state] = Rational(residues.signed_integer(of_state)) / Rational(after);
  }
  return result;
}

// A move spreads over all records under the prefix that it keeps, both ways alike. An exchange is
// never refused for certain, and is never certain but for a record below that is at least as
// likely.
std::vector<bool> CarriedChain::reached(std::vector<bool> states, bool forwards) const {
  const std::size_t n = tree_->size();
  const auto act = [&](const Factor& factor) {
    const std::size_t within = inner(factor.coordinate);
    std::vector<bool> next(states.size());
    if (factor.kernel) {
      const auto first = factor.kernel->first_reached();
      std::vector<bool> met(states.size());
      const auto representative = [&](std::size_t state) {
        const std::size_t x = state / within % n;
        return state - (x - first[x]) * within;
      };
      for (std::size_t state = 0; state < states.size(); ++state)
        if (states[state]) met[representative(state)] = true;
      for (std::size_t state = 0; state < states.size(); ++state)
        next[state] = met[representative(state)];
    } else {
      const std::size_t last = within / n;
      for (std::size_t state = 0; state < states.size(); ++state) {
        const std::size_t y = state / last % n, x = state / within % n;
        const std::size_t exchanged = state - (x * n + y) * last + (y * n + x) * last;
        const bool stays = states[state] && !factor.swap->is_certain(x, y);
        if (forwards) {
          if (states[state]) next[exchanged] = true;
          if (stays) next[state] = true;
        } else {
          next[state] = states[exchanged] || stays;
        }
      }
    }
    states = std::move(next);
  };
  if (forwards)
    std::for_each(factors_.begin(), factors_.end(), act);
  else
    std::for_each(factors_.rbegin(), factors_.rend(), act);
  return states;
}

bool CarriedChain::is_irreducible() const {
  for (const bool forwards : {true, false}) {
    std::vector<bool> collected(size_);
    collected[0] = true;
    for (std::ptrdiff_t count = 0, now = 1; count < now;) {
      count = now;
      const std::vector<bool> next = reached(collected, forwards);
      for (std::size_t state = 0; state < size_; ++state)
        if (next[state]) collected[state] = true;
      now = std::count(collected.begin(), collected.end(), true);
    }
    if (std::find(collected.begin(), collected.end(), false) != collected.end()) return false;
  }
  return true;
}

std::optional<bool> CarriedChain::is_palindrome() const {
  using Step = std::pair<std::size_t, const void*>;
  std::vector<Step> steps;
  for (const Factor& factor : factors_) {
    if (factor.kernel && !factor.kernel->is_reversible()) return std::nullopt;
    steps.emplace_back(factor.coordinate, factor.kernel
                                              ? static_cast<const void*>(factor.kernel.get())
                                              : static_cast<const void*>(factor.swap.get()));
  }
  // Moves of different coordinates commute: put each run of them in order.
  const auto in_order = [&](std::vector<Step> list) {
    for (std::size_t i = 0; i < list.size();) {
      std::size_t end = i;
      const auto is_move = [&](const Step& step) {
        return std::any_of(factors_.begin(), factors_.end(), [&](const Factor& factor) {
          return factor.kernel && factor.kernel.get() == step.second;
        });
      };
      while (end < list.size() && is_move(list[end])) ++end;
      std::sort(list.begin() + static_cast<std::ptrdiff_t>(i),
                list.begin() + static_cast<std::ptrdiff_t>(end));
      i = end + 1;
    }
    return list;
  };
  if (in_order(steps) == in_order({steps.rbegin(), steps.rend()})) return true;
  return std::nullopt;
}

}  // namespace tempera::reference
