#include "reference/analysis/tagged_replica.hpp"

#include "base/error.hpp"
#include "reference/analysis/stationary_law.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/swap.hpp"

namespace tempera::reference {
namespace {

// The tag's rung, from 0, and whether it was last at the top. At an endpoint the rung says it.
struct Tag {
  std::size_t rung;
  bool downward;
};

std::size_t index_of(const Tag& tag, std::size_t rungs) {
  if (tag.rung == 0) return 0;
  if (tag.rung + 1 == rungs) return 2 * rungs - 3;
  return 2 * tag.rung - (tag.downward ? 0 : 1);
}

Tag tag_of(std::size_t index, std::size_t rungs) {
  if (index == 0) return {0, false};
  if (index == 2 * rungs - 3) return {rungs - 1, true};
  return {(index + 1) / 2, index % 2 == 0};
}

// Where records and tag are, and with which probability.
struct Branch {
  std::vector<std::size_t> records;
  std::size_t rung;
  Rational probability;
};

std::vector<Branch> after_edge(const std::vector<Branch>& before, std::size_t edge,
                               const Matrix& acceptance) {
  std::vector<Branch> after;
  for (const Branch& branch : before) {
    const Rational& accepted = acceptance(branch.records[edge], branch.records[edge + 1]);
    Branch swapped = branch;
    std::swap(swapped.records[edge], swapped.records[edge + 1]);
    if (branch.rung == edge)
      swapped.rung = edge + 1;
    else if (branch.rung == edge + 1)
      swapped.rung = edge;
    swapped.probability *= accepted;
    if (swapped.probability > 0) after.push_back(swapped);
    if (accepted < 1) {
      after.push_back(branch);
      after.back().probability *= 1 - accepted;
    }
  }
  return after;
}

}  // namespace

Rational mean_round_trip(const ParallelTempering& chain) {
  const Shape& shape = chain.shape();
  const std::size_t rungs = shape.size(), records = joint_size(shape), tags = 2 * (rungs - 1);
  std::vector<Matrix> acceptances;
  for (std::size_t k = 0; k + 1 < rungs; ++k)
    acceptances.push_back(swap_acceptance(chain.rung_target(k), chain.rung_target(k + 1)));

  // One ordered sweep from each joint state with the tag at each rung.
  std::vector<std::vector<std::vector<Branch>>> swept(records);
  for (std::size_t state = 0; state < records; ++state)
    for (std::size_t rung = 0; rung < rungs; ++rung) {
      std::vector<Branch> branches{{coordinates(shape, state), rung, 1}};
      for (std::size_t k = 0; k + 1 < rungs; ++k)
        branches = after_edge(branches, k, acceptances[k]);
      swept[state].push_back(std::move(branches));
    }

  const Matrix local = chain.local_sweep().matrix();
  Matrix round(records * tags, records * tags);
  for (std::size_t from = 0; from < records; ++from)
    for (std::size_t t = 0; t < tags; ++t) {
      const Tag tag = tag_of(t, rungs);
      for (std::size_t moved = 0; moved < records; ++moved) {
        if (local(from, moved) == 0) continue;
        for (const Branch& branch : swept[moved][tag.rung]) {
          const std::size_t to = joint_state(shape, branch.records);
          const std::size_t tag_after = index_of({branch.rung, tag.downward}, rungs);
          round(from * tags + t, to * tags + tag_after) += local(from, moved) * branch.probability;
        }
      }
    }
  const auto law = stationary_law(round);
  if (!law)
    throw BadInput("joint chain", "has more than one stationary law",
                   "use restart laws that reach every record");
  Rational arrivals = 0;
  for (std::size_t from = 0; from < law->size(); ++from) {
    if (tag_of(from % tags, rungs).downward) continue;
    for (std::size_t to = tags - 1; to < law->size(); to += tags)
      arrivals += (*law)[from] * round(from, to);
  }
  return 1 / arrivals;
}

}  // namespace tempera::reference
