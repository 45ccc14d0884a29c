#include "reference/numbers/lifted_system.hpp"

#include <gmp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "reference/numbers/all_cores.hpp"
#include "reference/numbers/prime_field.hpp"
#include "reference/numbers/reconstruction.hpp"
#include "reference/numbers/triangular_factors.hpp"

namespace tempera::reference {
namespace {

using Element = PrimeField::Element;
using Numbers = TriangularFactors::Numbers;

std::size_t longest(const IntegerMatrix& a, const std::vector<Integer>& b) {
  std::size_t most = 0;
  for (const auto& row : a)
    for (const Integer& entry : row) most = std::max(most, length_in_bits(entry));
  for (const Integer& entry : b) most = std::max(most, length_in_bits(entry));
  return most;
}

// Hadamard's bound on the bits of det A and of A's minors with b in place of a column, the sum of
// its columns' lengths or of its rows', whichever is less.
std::size_t bits_of_determinants(const IntegerMatrix& a, const std::vector<Integer>& b) {
  const std::size_t n = a.size();
  std::vector<std::size_t> of_columns(n, 0);
  std::size_t of_b = 0, by_rows = 0, by_columns = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t of_row = length_in_bits(b[i]);
    of_b = std::max(of_b, of_row);
    for (std::size_t j = 0; j < n; ++j) {
      of_row = std::max(of_row, length_in_bits(a[i][j]));
      of_columns[j] = std::max(of_columns[j], length_in_bits(a[i][j]));
    }
    by_rows += of_row;
  }
  for (const std::size_t of_column : of_columns) by_columns += of_column;
  return std::min(by_rows, by_columns + of_b) + n * length_in_bits(Integer(n + 1));
}

// The primes of one base, and what carries numbers from it to a field of another.
class Base {
 public:
  explicit Base(std::vector<PrimeField> fields) : fields_(std::move(fields)) {
    for (const PrimeField& field : fields_) product_ *= field.prime();
    for (const PrimeField& field : fields_) {
      others_.push_back(product_ / field.prime());
      inverse_of_others_.push_back(field.inverse(field.of(others_.back())));
    }
  }

  std::size_t size() const { return fields_.size(); }
  const PrimeField& field(std::size_t i) const { return fields_[i]; }
  const Integer& product() const { return product_; }
  // Π_{j ≠ i} p_j.
  const std::vector<Integer>& others() const { return others_; }
  // The share s_i of prime i in Σ_i s_i Π_{j ≠ i} p_j, which has the given residue modulo p_i.
  std::uint64_t share(std::size_t i, std::uint64_t residue) const {
    return fields_[i].multiply(residue, inverse_of_others_[i]);
  }
  // Π_{j ≠ i} p_j in another field.
  std::vector<Element> others_in(const PrimeField& field) const {
    std::vector<Element> elements;
    for (const Integer& other : others_) elements.push_back(field.of(other));
    return elements;
  }

 private:
  std::vector<PrimeField> fields_;
  Integer product_ = 1;
  std::vector<Integer> others_;
  std::vector<Element> inverse_of_others_;
};

// A share of one prime as a number below another: all primes are in (2^61, 2^62).
std::uint64_t below(std::uint64_t share, const PrimeField& field) {
  return share >= field.prime() ? share - field.prime() : share;
}

// Digits of x to the base X, the least first: [digit][unknown], each in [0, k X), k primes in X.
class Lifting {
 public:
  Lifting(const IntegerMatrix& a, const std::vector<Integer>& b, std::size_t entry_bits,
          std::vector<TriangularFactors> factors)
      : n_(a.size()), factors_(std::move(factors)), digits_in_(fields_of(factors_)) {
    const std::size_t k = digits_in_.size();
    // |r| <= |b| / X + n k 2^entry_bits, kept below 2^-11 of the base's product.
    residue_base_.emplace(prime_fields(
        entry_bits + length_in_bits(Integer(2 * n_ * k)) + 12, [&](std::uint64_t prime) {
          return std::none_of(
              factors_.begin(), factors_.end(),
              [&](const TriangularFactors& known) { return known.field().prime() == prime; });
        }));
    const std::size_t l = residue_base_->size();
    residue_.resize(l);
    scaled_.resize(l);
    shares_.assign(n_, Numbers(k));
    solved_.resize(k);
    for (const TriangularFactors& known : factors_) {
      const PrimeField& field = known.field();
      from_residue_.push_back(residue_base_->others_in(field));
      product_in_.push_back(field.of(residue_base_->product()));
    }
    on_all_cores(l, [&](std::size_t j) {
      const PrimeField& field = residue_base_->field(j);
      const Element inverse = field.inverse(field.of(digits_in_.product()));
      Transfer& transfer = scaled_[j];
      transfer.inverse_of_base = inverse;
      transfer.from_digits = digits_in_.others_in(field);
      transfer.matrix.reserve(n_ * n_);
      for (const auto& row : a)
        for (const Integer& entry : row)
          transfer.matrix.push_back(field.multiply(field.of(entry), inverse));
      for (const Integer& entry : b) residue_[j].push_back(field.number(field.of(entry)));
    });
  }

  const Integer& base() const { return digits_in_.product(); }
  // The least prime of both bases, which go down from 2^62.
  std::uint64_t least_prime() const {
    return std::min(digits_in_.field(digits_in_.size() - 1).prime(),
                    residue_base_->field(residue_base_->size() - 1).prime());
  }
  const std::vector<std::vector<Integer>>& digits() const { return digits_; }

  void add_digit() {
    const std::size_t k = digits_in_.size(), l = residue_base_->size();
    // r = Σ_j t_j Π_{i ≠ j} q_i - v Π q, v being the sum of t_j / q_j to the nearest whole number.
    std::vector<Numbers> shares(n_, Numbers(l));
    Numbers wraps(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      double wrap = 0.0;
      for (std::size_t j = 0; j < l; ++j) {
        shares[i][j] = residue_base_->share(j, residue_[j][i]);
        wrap += static_cast<double>(shares[i][j]) /
                static_cast<double>(residue_base_->field(j).prime());
      }
      wraps[i] = static_cast<std::uint64_t>(std::llround(wrap));
    }
    in_parallel(k, [&](std::size_t p) {
      const PrimeField& field = factors_[p].field();
      Numbers& x = solved_[p];
      x.resize(n_);
      Numbers reduced(l);
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < l; ++j) reduced[j] = below(shares[i][j], field);
        x[i] = field.subtract(field.dot(from_residue_[p].data(), reduced.data(), l),
                              field.multiply(product_in_[p], wraps[i]));
      }
      factors_[p].solve(x);
      for (std::size_t i = 0; i < n_; ++i) shares_[i][p] = digits_in_.share(p, x[i]);
    });
    in_parallel(l, [&](std::size_t j) {
      const PrimeField& field = residue_base_->field(j);
      const Transfer& transfer = scaled_[j];
      Numbers digit(n_), reduced(k);
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t p = 0; p < k; ++p) reduced[p] = below(shares_[i][p], field);
        digit[i] = field.dot(transfer.from_digits.data(), reduced.data(), k);
      }
      for (std::size_t i = 0; i < n_; ++i)
        residue_[j][i] = field.subtract(field.multiply(residue_[j][i], transfer.inverse_of_base),
                                        field.dot(&transfer.matrix[i * n_], digit.data(), n_));
    });
    std::vector<Integer>& digit = digits_.emplace_back(n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t p = 0; p < k; ++p)
        mpz_addmul_ui(digit[i].backend().data(), digits_in_.others()[p].backend().data(),
                      shares_[i][p]);
  }

 private:
  struct Transfer {
    std::vector<Element> matrix;  // A / X
    std::vector<Element> from_digits;
    Element inverse_of_base;
  };

  static std::vector<PrimeField> fields_of(const std::vector<TriangularFactors>& factors) {
    std::vector<PrimeField> fields;
    for (const TriangularFactors& known : factors) fields.push_back(known.field());
    return fields;
  }

  // Threads cost more than they save on small systems.
  void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) const {
    if (n_ >= 64) return on_all_cores(count, work);
    for (std::size_t i = 0; i < count; ++i) work(i);
  }

  std::size_t n_;
  std::vector<TriangularFactors> factors_;
  Base digits_in_;
  std::optional<Base> residue_base_;
  std::vector<std::vector<Element>> from_residue_;  // [prime of a digit][prime of the residue]
  std::vector<Element> product_in_;                 // of the residue's primes
  std::vector<Transfer> scaled_;                    // [prime of the residue]
  std::vector<Numbers> residue_;                    // [prime of the residue][row]
  std::vector<Numbers> solved_;                     // [prime of a digit][unknown]
  std::vector<Numbers> shares_;                     // [unknown][prime of a digit]
  std::vector<std::vector<Integer>> digits_;
};

// Σ_t digits[t] X^t for the digits of several numbers.
class Powers {
 public:
  // For up to `count` digits, and powers below that.
  Powers(const Integer& base, std::size_t count) {
    for (std::size_t length = 1; length < count; length *= 2)
      doubled_.push_back(length == 1 ? base : Integer(doubled_.back() * doubled_.back()));
  }
  Integer sum(std::vector<Integer> digits) const {
    for (std::size_t level = 0; digits.size() > 1; ++level) {
      for (std::size_t t = 0; 2 * t < digits.size(); ++t) {
        if (2 * t + 1 < digits.size()) digits[2 * t] += digits[2 * t + 1] * doubled_[level];
        if (t > 0) digits[t] = std::move(digits[2 * t]);
      }
      digits.resize((digits.size() + 1) / 2);
    }
    return std::move(digits.front());
  }
  Integer power(std::size_t exponent) const {
    std::vector<Integer> digits(exponent + 1);
    digits.back() = 1;
    return exponent == 0 ? Integer(1) : sum(std::move(digits));
  }

 private:
  std::vector<Integer> doubled_;  // X^(2^i)
};

// value modulo m, in (-m / 2, m / 2].
Integer nearest_zero(const Integer& value, const Integer& m) {
  Integer rest = value % m;
  if (rest < 0) rest += m;
  if (2 * rest > m) rest -= m;
  return rest;
}

bool holds_modulo(const PrimeField& field, const IntegerMatrix& a, const std::vector<Integer>& b,
                  const OverCommonDenominator& x) {
  std::vector<Element> numerators, row(a.size());
  for (const Integer& numerator : x.numerators) numerators.push_back(field.of(numerator));
  const Element whole = field.of(x.denominator);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) row[j] = field.of(a[i][j]);
    if (field.dot(row.data(), numerators.data(), row.size()) !=
        field.multiply(whole, field.of(b[i])))
      return false;
  }
  return true;
}

// Room for digits that mean nothing to show that they do: a number that is no solution fits below
// it in one of 2^64 cases, and is then refused by the proof.
constexpr std::size_t spare_bits = 64;

// The solution out of the digits of x and of Σ_j weights_j x_j, if they are enough to prove it.
std::optional<OverCommonDenominator> solution_of(const Lifting& lifting,
                                                 const std::vector<Integer>& combined,
                                                 std::size_t entry_bits) {
  const std::size_t n = lifting.digits().front().size();
  const std::size_t count = combined.size();
  const Powers powers(lifting.base(), count + 1);
  const Integer modulus = powers.power(count);
  const auto fraction_of = [&](const Integer& residue) -> std::optional<Fraction> {
    Fraction fraction = shortest_fraction(residue, modulus);
    if (length_in_bits(fraction.numerator) + length_in_bits(fraction.denominator) + spare_bits >
        length_in_bits(modulus))
      return std::nullopt;
    return fraction;
  };
  const auto unknown = [&](std::size_t j, std::size_t digits) {
    std::vector<Integer> of_unknown;
    for (std::size_t t = 0; t < digits; ++t) of_unknown.push_back(lifting.digits()[t][j]);
    return powers.sum(std::move(of_unknown));
  };
  const auto first = fraction_of(Integer(powers.sum(combined) % modulus));
  if (!first) return std::nullopt;

  // With the denominator known, the numerators need half the digits. A N - D b has entries of at
  // most `beyond` bits more than the longest of N and D.
  const std::size_t beyond = entry_bits + length_in_bits(Integer(n + 1));
  const std::size_t wanted =
      std::max(length_in_bits(first->numerator), length_in_bits(first->denominator)) + beyond +
      2 * spare_bits;
  std::size_t digits = std::min(count, wanted / (length_in_bits(lifting.base()) - 1) + 1);
  Integer smaller = powers.power(digits);
  OverCommonDenominator x{std::vector<Integer>(n), first->denominator};
  std::vector<char> fits(n, 0);
  while (true) {
    on_all_cores(n, [&](std::size_t j) {
      if (fits[j]) return;
      x.numerators[j] = nearest_zero(unknown(j, digits) * x.denominator, smaller);
      if (length_in_bits(x.numerators[j]) + beyond + spare_bits / 2 < length_in_bits(smaller))
        fits[j] = 1;
    });
    const auto j = static_cast<std::size_t>(std::find(fits.begin(), fits.end(), 0) - fits.begin());
    if (j == n) break;
    // The combination's denominator lacks a factor of this one's.
    const auto rest = fraction_of(Integer(unknown(j, count) * x.denominator % modulus));
    if (!rest) return std::nullopt;
    if (rest->denominator == 1) {
      // Its numerator is longer than the combination's.
      if (digits == count) return std::nullopt;
      digits = count;
      smaller = modulus;
      std::fill(fits.begin(), fits.end(), 0);
      continue;
    }
    x.denominator *= rest->denominator;
    for (std::size_t i = 0; i < n; ++i)
      if (fits[i]) x.numerators[i] *= rest->denominator;
  }
  std::size_t most = length_in_bits(x.denominator);
  for (const Integer& numerator : x.numerators) most = std::max(most, length_in_bits(numerator));
  // |A N - D b| < 2^(most + beyond) <= the modulus: it is 0, being 0 modulo that.
  if (most + beyond >= length_in_bits(smaller)) return std::nullopt;
  return x;
}

// The number of primes of a digit. It keeps n^3 / 3 operations for each below what they save
// afterwards, in at most 2 GiB.
std::size_t primes_of_digit(std::size_t n, std::size_t entry_bits, std::size_t determinant_bits) {
  const double words = static_cast<double>(determinant_bits) / 62.0 + 1.0;
  const double best = std::sqrt(3.0 * words * (static_cast<double>(entry_bits) / 62.0 + 1.0) /
                                static_cast<double>(n));
  const double room = static_cast<double>(std::size_t{1} << 28U) / static_cast<double>(n * n);
  return static_cast<std::size_t>(std::max(1.0, std::min({best, room, words})));
}

std::vector<TriangularFactors> factors_of(const IntegerMatrix& a, std::size_t count) {
  constexpr std::size_t spare = 4;
  const auto fields = prime_fields((count + spare - 1) * 61, [](std::uint64_t) { return true; });
  std::vector<std::optional<TriangularFactors>> tried(fields.size());
  on_all_cores(count, [&](std::size_t i) { tried[i] = TriangularFactors::of(a, fields[i]); });
  std::vector<TriangularFactors> factors;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i >= count && factors.empty()) tried[i] = TriangularFactors::of(a, fields[i]);
    if (tried[i]) factors.push_back(std::move(*tried[i]));
  }
  if (factors.empty()) throw Bug("a leading minor of the matrix is 0");
  return factors;
}

}  // namespace

OverCommonDenominator lifted_solution(const IntegerMatrix& a, const std::vector<Integer>& b) {
  const std::size_t n = a.size();
  if (n == 0) return {};
  const std::size_t entry_bits = longest(a, b);
  const std::size_t determinant_bits = bits_of_determinants(a, b);
  Lifting lifting(a, b, entry_bits,
                  factors_of(a, primes_of_digit(n, entry_bits, determinant_bits)));
  const std::size_t digit_bits = length_in_bits(lifting.base()) - 1;
  const std::size_t enough =
      (2 * determinant_bits + entry_bits + length_in_bits(Integer(n)) + 8 * spare_bits) /
          digit_bits +
      2;
  std::vector<Integer> combined;
  for (std::size_t attempt = 2; combined.size() <= enough;) {
    lifting.add_digit();
    Integer& sum = combined.emplace_back(0);
    for (std::size_t j = 0; j < n; ++j) {
      // 40 bits that have nothing to do with the system.
      const std::uint64_t weight = ((j + 1) * std::uint64_t{0x9E3779B97F4A7C15}) >> 24U;
      mpz_addmul_ui(sum.backend().data(), lifting.digits().back()[j].backend().data(), weight);
    }
    if (combined.size() < attempt && combined.size() < enough) continue;
    attempt = combined.size() + combined.size() / 5 + 1;
    if (auto x = solution_of(lifting, combined, entry_bits)) {
      const auto is_new = [&](std::uint64_t prime) { return prime < lifting.least_prime(); };
      if (!holds_modulo(prime_fields(1, is_new).front(), a, b, *x))
        throw Bug("a lifted solution does not solve its system");
      return *x;
    }
  }
  throw Bug("the digits of a lifted solution do not end");
}

}  // namespace tempera::reference
