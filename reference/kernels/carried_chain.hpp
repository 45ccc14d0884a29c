#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/tree_kernel.hpp"
#include "reference/numbers/residues.hpp"

namespace tempera::reference {

/// The most joint states whose laws are carried.
inline constexpr std::size_t carried_joint_limit = tree_record_limit;

/// W_k between rungs of powers α < β: 1 ∧ (p0(x)/p0(y))^{β - α} for x below and y above
/// (eq:swap-acceptance-theory).
class TreeSwap {
 public:
  using Element = PrimeField::Element;

  /// @throw BadInput if a probability to the power β - α is irrational
  TreeSwap(const RecordTree& tree, const Power& lower, const Power& upper);
  const Integer& denominator() const { return denominator_; }
  bool admits(std::uint64_t prime) const;
  /// Whether p0(x) is at least p0(y), so that the exchange is certain.
  bool is_certain(std::size_t x, std::size_t y) const { return rank_[x] >= rank_[y]; }

  /// W_k modulo one prime.
  class Modulo {
   public:
    Modulo(const TreeSwap& swap, const PrimeField& field);
    /// law[(x, y)] with x and y `inner` apart in [outer][x][y][inner], exchanged.
    void apply(std::vector<Element>& law, std::size_t outer, std::size_t inner) const;
    /// The same for the parts of a law in which a tag is on x, `below`, and on y, `above`: what is
    /// exchanged goes over to the other part.
    void apply_tagged(std::vector<Element>& below, std::vector<Element>& above, std::size_t outer,
                      std::size_t inner) const;

   private:
    /// exchange(likelier_below, likelier_above, accepted) for the places of each two different
    /// records side by side: the first pair is exchanged for certain, the second with probability
    /// `accepted`.
    template <class Exchange>
    void for_each_pair(std::size_t outer, std::size_t inner, Exchange&& exchange) const;

    const TreeSwap& swap_;
    PrimeField field_;
    std::vector<Element> score_, inverse_;  // p0(x)^{β - α}
  };

 private:
  const RecordTree& tree_;
  std::vector<Rational> scores_;         // of the likelihoods
  std::vector<RecordTree::Index> rank_;  // of the records' likelihoods
  Integer denominator_;
};

/// A chain on S_T^K kept as its factors, that carries laws of millions of joint states exactly:
/// every factor acts on one or two coordinates of the law, modulo as many primes as the common
/// denominator of the result needs. Joint states are row-major with rung 1 slowest.
class CarriedChain {
 public:
  /// The identity on K copies of the tree's records. The tree must outlive it.
  /// @throw BadInput if there are more than carried_joint_limit joint states
  CarriedChain(const RecordTree& tree, std::size_t rungs);

  /// Coordinate k, from 0, makes one local move.
  void then_move(std::size_t k, std::shared_ptr<const TreeKernel> kernel);
  /// Coordinates k and k + 1 attempt an exchange.
  void then_swap(std::size_t k, std::shared_ptr<const TreeSwap> swap);
  /// What `next` does, afterwards.
  void then(const CarriedChain& next);

  const RecordTree& tree() const { return *tree_; }
  std::size_t rungs() const { return rungs_; }
  /// |S_T|^K.
  std::size_t size() const { return size_; }
  /// A multiple of the denominator of every entry of the joint matrix.
  Integer denominator() const;
  /// Whether all that the factors divide by is other than 0 modulo p.
  bool admits(std::uint64_t prime) const;
  /// μP modulo one prime, in place.
  void apply(const PrimeField& field, std::vector<PrimeField::Element>& law) const;
  /// The same for a law of joint states and of the rung of a tag that moves with its record:
  /// law[rung][state].
  void apply_tagged(const PrimeField& field,
                    std::vector<std::vector<PrimeField::Element>>& law) const;
  /// μP exactly, by residues put together: for laws that are looked at state by state.
  Law apply(const Law& law) const;
  /// Whether every joint state reaches every other.
  bool is_irreducible() const;
  /// Whether the chain is reversible for the product of the power targets because of what it is
  /// made of: factors that are reversible each, and the same read backwards, neighbours that act on
  /// different coordinates exchanged at will. Nothing if that does not tell.
  std::optional<bool> is_palindrome() const;

 private:
  struct Factor {
    std::size_t coordinate;
    std::shared_ptr<const TreeKernel> kernel;  // one of the two
    std::shared_ptr<const TreeSwap> swap;
  };
  std::vector<bool> reached(std::vector<bool> states, bool forwards) const;
  std::size_t inner(std::size_t coordinate) const;

  const RecordTree* tree_;
  std::size_t rungs_;
  std::size_t size_ = 1;
  std::vector<Factor> factors_;
};

}  // namespace tempera::reference
