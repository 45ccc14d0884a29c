#include "reference/kernels/tree_kernel.hpp"

#include <gmp.h>

#include <algorithm>
#include <numeric>

#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {
namespace {

bool is_multiple_of(const Integer& value, std::uint64_t prime) {
  return mpz_divisible_ui_p(value.backend().data(), prime) != 0;
}

bool is_unit(const Rational& value, std::uint64_t prime) {
  return !is_multiple_of(Integer(numerator(value)), prime) &&
         !is_multiple_of(Integer(denominator(value)), prime);
}

// The least common multiple, over all records, of the products of one number per row passed. Its
// divisors are the same product over every later part of a record, too.
Integer multiple_along_records(const RecordTree& tree, const std::vector<Integer>& of_row) {
  DistinctNumbers<Integer> numbers;
  using Id = DistinctNumbers<Integer>::Id;
  std::vector<Id> rows;
  for (const Integer& factor : of_row) rows.push_back(numbers.of(factor));
  const auto& prefixes = tree.prefixes();
  std::vector<Id> below(prefixes.size(), numbers.of(1));
  for (std::size_t h = prefixes.size(); h-- > 0;) {
    below[h] = numbers.product(below[h], rows[prefixes[h].row]);
    if (h == 0) break;
    Id& parent = below[prefixes[h].parent];
    parent = numbers.common_multiple(parent, below[h]);
  }
  return numbers[below[0]];
}

}  // namespace

TreeKernel::TreeKernel(const RecordTree& tree, const Power& power, const RestartLaw& restart)
    : tree_(tree) {
  for (const Rational& likelihood : tree.likelihoods()) powered_.push_back(power.raise(likelihood));
  for (const TokenRow* row : tree.rows()) {
    normalizers_.push_back(token_normalizer(*row, power));
    proposals_.push_back(token_proposal(*row, power));
  }
  for (std::size_t r = 1; r <= tree.horizon(); ++r) restart_.push_back(restart(r));
  order_records();
  denominator_ = common_denominator(restart, power);
}

void TreeKernel::order_records() {
  const auto& prefixes = tree_.prefixes();
  std::vector<Index> factors;
  for (const Rational& z : normalizers_) factors.push_back(weights_.of(z));
  weight_at_.resize(prefixes.size(), weights_.of(1));
  weight_after_.resize(prefixes.size());
  order_begin_.push_back(0);
  for (std::size_t h = 0; h < prefixes.size(); ++h) {
    if (h > 0) weight_at_[h] = weight_after_[prefixes[h].parent];
    weight_after_[h] = weights_.product(weight_at_[h], factors[prefixes[h].row]);
    order_begin_.push_back(order_begin_.back() + prefixes[h].end - prefixes[h].begin);
  }

  std::vector<Index> ascending(weights_.values().size());
  std::iota(ascending.begin(), ascending.end(), Index{0});
  std::sort(ascending.begin(), ascending.end(),
            [&](Index a, Index b) { return weights_[a] < weights_[b]; });
  std::vector<std::size_t> next(ascending.size() + 1);
  std::vector<Index> rank(ascending.size());
  for (std::size_t i = 0; i < ascending.size(); ++i) rank[ascending[i]] = static_cast<Index>(i);
  const auto rank_of = [&](std::size_t x) { return rank[weight_after_[tree_.parent(x)]]; };
  for (std::size_t x = 0; x < tree_.size(); ++x) ++next[rank_of(x) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Index> sorted(tree_.size());
  for (std::size_t x = 0; x < tree_.size(); ++x) sorted[next[rank_of(x)]++] = static_cast<Index>(x);

  // One after the other into the list of every prefix that it has: each list is then sorted, too.
  order_.resize(order_begin_.back());
  std::vector<std::size_t> free(order_begin_.begin(), order_begin_.end() - 1);
  for (const Index x : sorted) {
    for (Index h = tree_.parent(x);; h = prefixes[h].parent) {
      order_[free[h]++] = x;
      if (h == 0) break;
    }
  }
}

// An entry off the diagonal is a sum over r of ω(r) q_r(y|x) or of ω(r) q_r(y|x) w(y)/w(x). The
// first is Π p0^α/z along y from r on; the second is Π p0^α along y over Π z along x, from r on.
Integer TreeKernel::common_denominator(const RestartLaw& restart, const Power& power) const {
  Integer of_restart = 1;
  for (std::size_t r = 1; r <= tree_.horizon(); ++r)
    of_restart = lcm(of_restart, Integer(boost::multiprecision::denominator(restart(r))));
  std::vector<Integer> of_powers, of_normalizers;
  for (std::size_t row = 0; row < tree_.rows().size(); ++row) {
    Integer multiple = 1;
    for (const Rational& probability : *tree_.rows()[row])
      multiple =
          lcm(multiple, Integer(boost::multiprecision::denominator(power.raise(probability))));
    of_powers.push_back(multiple);
    of_normalizers.emplace_back(numerator(normalizers_[row]));
  }
  return of_restart * multiple_along_records(tree_, of_powers) *
         multiple_along_records(tree_, of_normalizers);
}

bool TreeKernel::admits(std::uint64_t prime) const {
  const auto is_unit_here = [&](const Rational& value) { return is_unit(value, prime); };
  return !is_multiple_of(denominator_, prime) &&
         std::all_of(powered_.begin(), powered_.end(), is_unit_here) &&
         std::all_of(normalizers_.begin(), normalizers_.end(), is_unit_here);
}

bool TreeKernel::is_reversible() const {
  for (std::size_t row = 0; row < proposals_.size(); ++row) {
    const TokenRow& base = *tree_.rows()[row];
    for (Token token = 0; token < base.size(); ++token) {
      if (base[token] == 0) {
        if (proposals_[row][token] != 0) return false;
        continue;
      }
      if (proposals_[row][token] * normalizers_[row] != powered_[tree_.row_likelihoods(row)[token]])
        return false;
    }
  }
  return true;
}

std::vector<TreeKernel::Index> TreeKernel::first_reached() const {
  std::size_t kept = 0;
  while (restart_[kept] == 0) ++kept;
  const auto& prefixes = tree_.prefixes();
  std::vector<Index> first(tree_.size());
  for (std::size_t x = 0; x < first.size(); ++x) {
    Index h = tree_.parent(x);
    first[x] = static_cast<Index>(x);
    if (prefixes[h].depth < kept) continue;
    while (prefixes[h].depth > kept) h = prefixes[h].parent;
    first[x] = prefixes[h].begin;
  }
  return first;
}

TreeKernel::Modulo::Modulo(const TreeKernel& kernel, const PrimeField& field)
    : kernel_(kernel), field_(field) {
  const RecordTree& tree = kernel.tree_;
  const auto& prefixes = tree.prefixes();
  std::vector<Element> powered, weights, weight_inverses;
  for (const Rational& value : kernel.powered_) powered.push_back(field.of(value));
  for (const Rational& value : kernel.weights_.values()) {
    weights.push_back(field.of(value));
    weight_inverses.push_back(field.of(Rational(1 / value)));
  }
  std::vector<Element> restart;
  for (const Rational& probability : kernel.restart_) restart.push_back(field.of(probability));
  const std::size_t size = tree.size();
  for (auto* scratch : {&before_, &lighter_, &heavier_, &scaled_}) scratch->resize(size);
  mass_.resize(size);
  weight_inverse_.resize(size);
  for (std::size_t x = 0; x < size; ++x) {
    mass_[x] = powered[tree.likelihood(x)];
    weight_inverse_[x] = weight_inverses[kernel.weight_after_[tree.parent(x)]];
  }
  std::vector<Element> inverse_of(powered.size());
  restart_share_.resize(prefixes.size());
  for (std::size_t h = 0; h < prefixes.size(); ++h) {
    if (restart[prefixes[h].depth] == 0) continue;
    Element& inverse = inverse_of[prefixes[h].likelihood];
    if (inverse == 0) inverse = field.inverse(powered[prefixes[h].likelihood]);
    restart_share_[h] = field.multiply(restart[prefixes[h].depth],
                                       field.multiply(weights[kernel.weight_at_[h]], inverse));
  }
  find_staying();
}

// 1 - Σ_r (ω(r)/G(h)) [Σ_{y from x on} G(y) + (1/w(x)) Σ_{y before x} p0(y)^α], in the order of w:
// what is left for rejections, x itself counted among the proposals that are accepted. Positions
// after the end of x stay anyway.
void TreeKernel::Modulo::find_staying() {
  const std::size_t size = mass_.size();
  for (std::size_t x = 0; x < size; ++x) {
    scaled_[x] = field_.multiply(mass_[x], weight_inverse_[x]);  // G(x)
    lighter_[x] = heavier_[x] = 0;
  }
  for (std::size_t h = 0; h < restart_share_.size(); ++h) {
    const Element share = restart_share_[h];
    if (share == 0) continue;
    const auto records = kernel_.records_under(h);
    Element sum = 0;
    for (const Index x : records) {
      lighter_[x] = field_.add(lighter_[x], field_.multiply(share, sum));
      sum = field_.add(sum, mass_[x]);
    }
    sum = 0;
    for (std::size_t i = records.size(); i-- > 0;) {
      const Index x = records[i];
      sum = field_.add(sum, scaled_[x]);
      heavier_[x] = field_.add(heavier_[x], field_.multiply(share, sum));
    }
  }
  staying_.resize(size);
  for (std::size_t x = 0; x < size; ++x)
    staying_[x] = field_.subtract(
        field_.one(), field_.add(heavier_[x], field_.multiply(weight_inverse_[x], lighter_[x])));
}

void TreeKernel::Modulo::apply(Element* law, std::size_t stride) {
  const std::size_t size = mass_.size();
  for (std::size_t x = 0; x < size; ++x) {
    before_[x] = law[x * stride];
    scaled_[x] = field_.multiply(before_[x], weight_inverse_[x]);
    lighter_[x] = heavier_[x] = 0;
  }
  for (std::size_t h = 0; h < restart_share_.size(); ++h) {
    const Element share = restart_share_[h];
    if (share == 0) continue;
    const auto records = kernel_.records_under(h);
    Element sum = 0;
    for (const Index y : records) {
      sum = field_.add(sum, before_[y]);
      lighter_[y] = field_.add(lighter_[y], field_.multiply(share, sum));
    }
    sum = 0;
    for (std::size_t i = records.size(); i-- > 0;) {
      const Index y = records[i];
      heavier_[y] = field_.add(heavier_[y], field_.multiply(share, sum));
      sum = field_.add(sum, scaled_[y]);
    }
  }
  for (std::size_t y = 0; y < size; ++y) {
    // G(y) of the one sum and G(y) w(y) = p0(y)^α of the other.
    const Element reached = field_.multiply(
        mass_[y], field_.add(field_.multiply(weight_inverse_[y], lighter_[y]), heavier_[y]));
    law[y * stride] = field_.add(reached, field_.multiply(before_[y], staying_[y]));
  }
}

}  // namespace tempera::reference
