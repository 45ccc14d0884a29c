#pragma once

#include <span>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_tree.hpp"
#include "reference/numbers/prime_field.hpp"

namespace tempera::reference {

/// L_k = Σ_r ω(r) L_{k,r} on the tree of prefixes, for spaces whose matrix would be too large.
///
/// From x, position r regenerates y among the records that share h = x_{<r}, with probability
/// G(y)/G(h), G the product of g_α along a prefix. In the ratio of
/// eq:implementation-local-mh-acceptance everything but w(x) = p0(x)^α / G(x) = Π_t z_α(x_{<t})
/// cancels, so the move is accepted with probability 1 ∧ w(y)/w(x). With the records under h in
/// ascending order of w, the mass that reaches y is
///   (G(y)/G(h)) [Σ_{x up to y} μ(x) + w(y) Σ_{x after y} μ(x)/w(x)],
/// two running sums. A law thus takes O(Σ_x len(x)) operations, and so do the probabilities of
/// staying.
class TreeKernel {
 public:
  using Element = PrimeField::Element;
  using Index = RecordTree::Index;

  /// The tree must outlive it; the restart law is over 1..T.
  /// @throw BadInput if a probability to the power is irrational
  TreeKernel(const RecordTree& tree, const Power& power, const RestartLaw& restart);

  const RecordTree& tree() const { return tree_; }
  /// p0^α of each value of tree().likelihoods().
  const std::vector<Rational>& powered() const { return powered_; }
  /// A multiple of the denominator of every entry of L_k.
  const Integer& denominator() const { return denominator_; }
  /// Whether all that it divides by is other than 0 modulo p.
  bool admits(std::uint64_t prime) const;
  /// Whether g_α z_α = p0^α at every row. Then w G = p0^α at every record, and the flow between x
  /// and y, ω(r) G(x) G(y) min{w(x), w(y)} / (G(h) Z) summed over r, is the same both ways.
  bool is_reversible() const;
  /// The first record under the longest prefix that x keeps through every move, of each x: two
  /// records reach each other if and only if theirs are the same.
  std::vector<Index> first_reached() const;

  /// The kernel modulo one prime.
  class Modulo {
   public:
    Modulo(const TreeKernel& kernel, const PrimeField& field);
    /// law becomes law L_k; |S_T| elements `stride` apart. Scratch space is its own: one thread at
    /// a time.
    void apply(Element* law, std::size_t stride);

   private:
    void find_staying();

    const TreeKernel& kernel_;
    PrimeField field_;
    std::vector<Element> mass_, weight_inverse_;  // G(x) w(x) = p0(x)^α, and 1 / w(x)
    std::vector<Element> restart_share_;          // of a prefix: ω(|h| + 1) / G(h)
    std::vector<Element> staying_;                // the diagonal's rejections
    std::vector<Element> before_, lighter_, heavier_, scaled_;
  };

 private:
  void order_records();
  /// The records that begin with a prefix, ascending in w.
  std::span<const Index> records_under(std::size_t h) const {
    return std::span(order_).subspan(order_begin_[h], order_begin_[h + 1] - order_begin_[h]);
  }
  Integer common_denominator(const RestartLaw& restart, const Power& power) const;

  const RecordTree& tree_;
  std::vector<Rational> powered_;      // of the likelihoods
  std::vector<TokenRow> proposals_;    // g_α of the rows
  std::vector<Rational> normalizers_;  // z_α of the rows
  std::vector<Rational> restart_;      // ω(1), ..., ω(T)
  DistinctNumbers<Rational> weights_;
  std::vector<Index> weight_at_;     // of a prefix: Π z before it, its own row left out
  std::vector<Index> weight_after_;  // and its own row taken in: w of the records that end there
  std::vector<Index> order_;         // under each prefix its records, ascending in w
  std::vector<std::size_t> order_begin_;
  Integer denominator_;
};

}  // namespace tempera::reference
