#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gpu/core/sampler/record.hpp"

namespace tempera::gpu {

/// Records whose log p0 are within this of the largest are tied with it. It is above what tells
/// apart two sums of the same factors in another order, or two float32 logits of one probability
/// in a record of few tokens, and below any likelihood ratio that a reader would call one.
inline constexpr double likelihood_tie = 0x1p-16;

/// How the likeliest of several records is found, `apx:compute-matched`.
struct LikelihoodRules {
  /// The cumulative log-likelihood of the base model, whatever power drew the record.
  static double score(const Record& x) { return x.log_p0(); }
};

/// The first of the records whose score is within likelihood_tie of the largest: of those that are
/// tied the one with the lowest number, whatever the floating point of their sums.
/// Range: at least one record.
template <class Rules = LikelihoodRules>
std::size_t likeliest_record(const std::vector<Record>& records) {
  double largest = Rules::score(records.at(0));
  for (const Record& record : records) largest = std::max(largest, Rules::score(record));
  std::size_t first = 0;
  while (Rules::score(records[first]) < largest - likelihood_tie) ++first;
  return first;
}

}  // namespace tempera::gpu
