#include "reference/kernels/factored_kernel.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "reference/numbers/all_cores.hpp"

namespace tempera::reference {
namespace {

std::size_t volume(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// Each within two units of 2^-53 of its fraction: convert_to rounds towards zero.
Doubles rounded(const Matrix& fractions) {
  Doubles result;
  for (const Rational& fraction : fractions.entries())
    result.push_back(fraction.convert_to<double>());
  return result;
}

}  // namespace

class FactoredKernel::Factor {
 public:
  virtual ~Factor() = default;
  // Numerators over the old denominator become numerators over the old one times denominator().
  virtual std::vector<Integer> apply(const std::vector<Integer>& law) const = 0;
  virtual Integer denominator() const = 0;
  // The same in doubles, and the roundings that it adds to each number, as a share of it.
  virtual Doubles apply(const Doubles& law) const = 0;
  virtual std::size_t roundings() const = 0;
  virtual std::vector<bool> successors(const std::vector<bool>& states) const = 0;
  virtual std::vector<bool> predecessors(const std::vector<bool>& states) const = 0;
};

// One coordinate moves by a matrix. The states are [outer][coordinate][inner].
class FactoredKernel::Move final : public Factor {
 public:
  Move(const Matrix& kernel, std::size_t outer, std::size_t inner)
      : rows_(kernel.rows()),
        columns_(kernel.columns()),
        outer_(outer),
        inner_(inner),
        entries_(over_common_denominator(kernel.entries())),
        rounded_(rounded(kernel)) {}

  std::vector<Integer> apply(const std::vector<Integer>& law) const override {
    std::vector<Integer> result(outer_ * columns_ * inner_);
    visit(entries_.numerators, [&](std::size_t before, std::size_t after, const Integer& entry) {
      if (law[before] != 0) add_product(result[after], law[before], entry);
    });
    return result;
  }

  Doubles apply(const Doubles& law) const override {
    Doubles result(outer_ * columns_ * inner_);
    visit(rounded_, [&](std::size_t before, std::size_t after, double entry) {
      result[after] += law[before] * entry;
    });
    return result;
  }

  Integer denominator() const override { return entries_.denominator; }
  // Two of the entry, one of the product, and the additions to the first.
  std::size_t roundings() const override { return rows_ + 2; }

  std::vector<bool> successors(const std::vector<bool>& states) const override {
    std::vector<bool> result(outer_ * columns_ * inner_);
    visit(entries_.numerators, [&](std::size_t before, std::size_t after, const Integer&) {
      if (states[before]) result[after] = true;
    });
    return result;
  }

  std::vector<bool> predecessors(const std::vector<bool>& states) const override {
    std::vector<bool> result(outer_ * rows_ * inner_);
    visit(entries_.numerators, [&](std::size_t before, std::size_t after, const Integer&) {
      if (states[after]) result[before] = true;
    });
    return result;
  }

 private:
  template <class Number, class Visit>
  void visit(const std::vector<Number>& entries, const Visit& visit_entry) const {
    for (std::size_t o = 0; o < outer_; ++o) {
      for (std::size_t x = 0; x < rows_; ++x) {
        for (std::size_t y = 0; y < columns_; ++y) {
          const Number& entry = entries[x * columns_ + y];
          if (entry == 0) continue;
          for (std::size_t i = 0; i < inner_; ++i) {
            visit_entry((o * rows_ + x) * inner_ + i, (o * columns_ + y) * inner_ + i, entry);
          }
        }
      }
    }
  }

  std::size_t rows_, columns_, outer_, inner_;
  OverCommonDenominator entries_;
  Doubles rounded_;
};

// Two neighbouring coordinates of n states are exchanged. The states are [outer][x][y][inner].
class FactoredKernel::Swap final : public Factor {
 public:
  Swap(const Matrix& acceptance, std::size_t outer, std::size_t inner)
      : n_(acceptance.rows()),
        outer_(outer),
        inner_(inner),
        acceptance_(over_common_denominator(acceptance.entries())),
        accepts_(rounded(acceptance)) {
    for (const Rational& accepted : acceptance.entries())
      stays_.push_back(Rational(1 - accepted).convert_to<double>());
  }

  Doubles apply(const Doubles& law) const override {
    Doubles result(law.size());
    visit([&](std::size_t state, std::size_t swapped, std::size_t pair) {
      result[swapped] += law[state] * accepts_[pair];
      result[state] += law[state] * stays_[pair];
    });
    return result;
  }

  // Two of the entry, a product and an addition.
  std::size_t roundings() const override { return 4; }

  std::vector<Integer> apply(const std::vector<Integer>& law) const override {
    std::vector<Integer> result(law.size());
    visit([&](std::size_t state, std::size_t swapped, std::size_t pair) {
      const Integer& accepted = acceptance_.numerators[pair];
      add_product(result[swapped], law[state], accepted);
      add_product(result[state], law[state], acceptance_.denominator - accepted);
    });
    return result;
  }

  Integer denominator() const override { return acceptance_.denominator; }

  std::vector<bool> successors(const std::vector<bool>& states) const override {
    std::vector<bool> result(states.size());
    visit([&](std::size_t state, std::size_t swapped, std::size_t pair) {
      const Integer& accepted = acceptance_.numerators[pair];
      if (!states[state]) return;
      if (accepted != 0) result[swapped] = true;
      if (accepted != acceptance_.denominator) result[state] = true;
    });
    return result;
  }

  std::vector<bool> predecessors(const std::vector<bool>& states) const override {
    std::vector<bool> result(states.size());
    visit([&](std::size_t state, std::size_t swapped, std::size_t pair) {
      const Integer& accepted = acceptance_.numerators[pair];
      result[state] = (accepted != 0 && states[swapped]) ||
                      (accepted != acceptance_.denominator && states[state]);
    });
    return result;
  }

 private:
  template <class Visit>
  void visit(const Visit& visit_state) const {
    for (std::size_t o = 0; o < outer_; ++o) {
      for (std::size_t x = 0; x < n_; ++x) {
        for (std::size_t y = 0; y < n_; ++y) {
          for (std::size_t i = 0; i < inner_; ++i) {
            visit_state(((o * n_ + x) * n_ + y) * inner_ + i, ((o * n_ + y) * n_ + x) * inner_ + i,
                        x * n_ + y);
          }
        }
      }
    }
  }

  std::size_t n_, outer_, inner_;
  OverCommonDenominator acceptance_;
  Doubles accepts_, stays_;
};

FactoredKernel::FactoredKernel(const Matrix& kernel) : FactoredKernel(Shape{kernel.rows()}) {
  then_move({kernel});
}

void FactoredKernel::then_move(const std::vector<Matrix>& kernels) {
  if (kernels.size() != to_.size()) throw Bug("one kernel per coordinate");
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (kernels[k].rows() != to_[k]) throw Bug("kernel of another space");
    const std::size_t outer = volume(Shape(to_.begin(), to_.begin() + static_cast<long>(k)));
    const std::size_t inner = volume(Shape(to_.begin() + static_cast<long>(k) + 1, to_.end()));
    factors_.push_back(std::make_shared<Move>(kernels[k], outer, inner));
    to_[k] = kernels[k].columns();
  }
}

void FactoredKernel::then_swap(std::size_t k, const Matrix& acceptance) {
  if (k + 1 >= to_.size() || to_[k] != to_[k + 1] || acceptance.rows() != to_[k]) {
    throw Bug("swap of unlike coordinates");
  }
  const std::size_t outer = volume(Shape(to_.begin(), to_.begin() + static_cast<long>(k)));
  const std::size_t inner = volume(Shape(to_.begin() + static_cast<long>(k) + 2, to_.end()));
  factors_.push_back(std::make_shared<Swap>(acceptance, outer, inner));
}

void FactoredKernel::then(const FactoredKernel& next) {
  if (next.from_ != to_) throw Bug("kernel of another space");
  factors_.insert(factors_.end(), next.factors_.begin(), next.factors_.end());
  to_ = next.to_;
}

Law FactoredKernel::apply(const Law& law) const {
  OverCommonDenominator carried = over_common_denominator(law);
  for (const auto& factor : factors_) {
    carried.numerators = factor->apply(carried.numerators);
    carried.denominator *= factor->denominator();
  }
  return in_lowest_terms(carried);
}

std::vector<Integer> FactoredKernel::row_numerators(std::size_t state) const {
  std::vector<Integer> row(volume(from_));
  row[state] = 1;
  for (const auto& factor : factors_) row = factor->apply(row);
  return row;
}

Integer FactoredKernel::row_denominator() const {
  Integer denominator = 1;
  for (const auto& factor : factors_) denominator *= factor->denominator();
  return denominator;
}

Matrix FactoredKernel::matrix() const {
  Matrix joint(volume(from_), volume(to_));
  for (std::size_t x = 0; x < joint.rows(); ++x) {
    const Law row = in_lowest_terms({row_numerators(x), row_denominator()});
    for (std::size_t y = 0; y < joint.columns(); ++y) joint(x, y) = row[y];
  }
  return joint;
}

RoundedMatrix FactoredKernel::rounded_matrix() const {
  const std::size_t rows = volume(from_), columns = volume(to_);
  RoundedMatrix joint{Doubles(rows * columns), 0};
  for (const auto& factor : factors_) joint.roundings += factor->roundings();
  on_all_cores(
      rows,
      [&](std::size_t x) {
        Doubles row(rows);
        row[x] = 1;
        for (const auto& factor : factors_) row = factor->apply(row);
        std::copy(row.begin(), row.end(), joint.entries.begin() + static_cast<long>(x * columns));
      },
      128);
  return joint;
}

std::vector<bool> FactoredKernel::successors(std::vector<bool> states) const {
  for (const auto& factor : factors_) states = factor->successors(states);
  return states;
}

std::vector<bool> FactoredKernel::predecessors(std::vector<bool> states) const {
  for (auto factor = factors_.rbegin(); factor != factors_.rend(); ++factor) {
    states = (*factor)->predecessors(states);
  }
  return states;
}

FactoredKernel repeated(const FactoredKernel& kernel, std::size_t n) {
  FactoredKernel result(kernel.from());
  for (std::size_t i = 0; i < n; ++i) result.then(kernel);
  return result;
}

}  // namespace tempera::reference
