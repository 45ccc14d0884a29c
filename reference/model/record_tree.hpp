#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/model/finite_model.hpp"
#include "reference/numbers/distinct_numbers.hpp"

namespace tempera::reference {

/// The most records of a tree, and the most of their positions (records times horizon).
inline constexpr std::size_t tree_record_limit = std::size_t{1} << 22U;
inline constexpr std::size_t tree_position_limit = std::size_t{1} << 27U;

/// S_T as the tree of its open prefixes, for spaces too large for FixedHorizonSpace. Records are in
/// its order, depth-first in vocabulary order, so that those under one prefix are side by side.
class RecordTree {
 public:
  using Index = std::uint32_t;
  /// An open prefix h, |h| < T, that some record has.
  struct Prefix {
    Index parent;      ///< the prefix without its last token; of the empty one itself
    Token last;        ///< its last token, if it has one
    Index depth;       ///< |h|
    Index begin, end;  ///< the records that begin with it
    Index likelihood;  ///< of p0(h) among likelihoods()
    Index row;         ///< of p0(· | h) among rows()
  };

  /// @throw BadInput, before listing anything, if there are more records or positions than the
  /// limits, or the horizon is above horizon_limit or 0
  RecordTree(const FiniteModel& model, std::size_t horizon);
  RecordTree(const RecordTree&) = delete;  // rows() points into the model that it holds
  RecordTree& operator=(const RecordTree&) = delete;

  const FiniteModel& model() const { return model_; }
  std::size_t horizon() const { return horizon_; }
  /// |S_T|.
  std::size_t size() const { return parents_.size(); }
  /// A prefix is before those that extend it; the first is empty.
  const std::vector<Prefix>& prefixes() const { return prefixes_; }
  /// The prefix of record x without its last token.
  Index parent(std::size_t x) const { return parents_[x]; }
  std::size_t length(std::size_t x) const { return prefixes_[parents_[x]].depth + 1; }
  /// The index of p0(x) in likelihoods().
  Index likelihood(std::size_t x) const { return record_likelihoods_[x]; }
  /// The values of p0 at prefixes, records and in rows, each once; none is 0.
  const std::vector<Rational>& likelihoods() const { return likelihoods_.values(); }
  /// The rows that prefixes are followed by, each once.
  const std::vector<const TokenRow*>& rows() const { return rows_; }
  /// Indices of a row's probabilities in likelihoods(), by token; those of 0 mean nothing.
  const std::vector<Index>& row_likelihoods(std::size_t row) const { return factors_[row]; }

  /// Tokens joined by one space.
  std::string name(std::size_t x) const;
  /// Index of the record written as tokens joined by one space. `where` names the flag in messages.
  /// @throw BadInput if it is none of S_T
  std::size_t parse(std::string_view text, const std::string& where) const;

 private:
  void extend(std::vector<Token>& tokens, Index prefix);
  Index row_after(const std::vector<Token>& tokens);

  FiniteModel model_;
  std::size_t horizon_;
  std::vector<Prefix> prefixes_;
  std::vector<Index> parents_, record_likelihoods_;
  std::vector<Token> last_;
  std::vector<const TokenRow*> rows_;
  std::map<const TokenRow*, Index> row_ids_;
  std::vector<std::vector<Index>> factors_;  // of each row's probabilities among the likelihoods
  DistinctNumbers<Rational> likelihoods_;
};

}  // namespace tempera::reference
