#include "reference/kernels/delayed_rejection_kernel.hpp"

#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"

namespace tempera::reference {
namespace {

/// The records that a move from x at position r may propose, x among them.
std::vector<std::size_t> reached(const FixedHorizonSpace& space, std::size_t x, std::size_t r) {
  std::vector<std::size_t> records;
  for (std::size_t y = 0; y < space.size(); ++y)
    if (y == x || r <= last_shared_restart(space[x], space[y])) records.push_back(y);
  return records;
}

/// The positions of the second stage, each as likely as the others.
std::vector<std::size_t> second_positions(std::size_t r, std::size_t horizon,
                                          SecondRestart second) {
  if (second == SecondRestart::same) return {r};
  std::vector<std::size_t> positions;
  for (std::size_t s = r + 1; s <= horizon; ++s) positions.push_back(s);
  return positions;
}

std::size_t last_position(const FixedHorizonSpace& space, std::size_t x) {
  return space[x].terminal_position().value_or(space.horizon());
}

/// a(x, y): of records with the same prefix before r, π(y)/q_r(y) over π(x)/q_r(x).
Rational first_acceptance(const Law& target, const SuffixProposal& proposal, std::size_t r,
                          std::size_t x, std::size_t y) {
  return acceptance(target[y] * proposal.suffix(x, r), target[x] * proposal.suffix(y, r));
}

}  // namespace

Matrix delayed_rejection_kernel(const FixedHorizonSpace& space, const Power& power,
                                const RestartLaw& restart, SecondRestart second) {
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    for (std::size_t r = 1; r <= last_position(space, x); ++r) {
      const auto positions = second_positions(r, space.horizon(), second);
      std::vector<std::vector<std::size_t>> seconds;
      for (const std::size_t s : positions) seconds.push_back(reached(space, x, s));
      for (const std::size_t y : reached(space, x, r)) {
        const Rational accepted = first_acceptance(target, proposal, r, x, y);
        const Rational proposed = restart(r) * proposal.suffix(y, r);
        if (y != x) kernel(x, y) += proposed * accepted;
        if (accepted == 1) continue;
        const Rational forward = target[x] * proposal.suffix(y, r) * (1 - accepted);
        const Rational share = proposed * (1 - accepted) / Rational(positions.size());
        for (std::size_t i = 0; i < positions.size(); ++i) {
          const std::size_t s = positions[i];
          for (const std::size_t z : seconds[i]) {
            if (z == x) continue;
            const Rational reverse = target[z] * proposal.suffix(y, r) *
                                     (1 - first_acceptance(target, proposal, r, z, y));
            kernel(x, z) +=
                share * proposal.suffix(z, s) *
                acceptance(reverse * proposal.suffix(x, s), forward * proposal.suffix(z, s));
          }
        }
      }
    }
  }
  complete_rows_on_diagonal(kernel);
  return kernel;
}

std::vector<Rational> delayed_rejection_tokens(const FixedHorizonSpace& space, const Power& power,
                                               const RestartLaw& restart, SecondRestart second) {
  const Law target = power_target(space, power);
  const SuffixProposal proposal(space, power);
  DecodeTokens tokens(space.model(), power);
  const auto suffix_tokens = [&](std::size_t x, std::size_t r) {
    return r > last_position(space, x)
               ? Rational(0)
               : tokens.continuation(std::span(space[x].tokens).first(r - 1), space.horizon());
  };
  std::vector<Rational> of_record(space.size());
  for (std::size_t x = 0; x < space.size(); ++x) {
    for (std::size_t r = 1; r <= last_position(space, x); ++r) {
      Rational rejected = 0;
      for (const std::size_t y : reached(space, x, r))
        rejected += proposal.suffix(y, r) * (1 - first_acceptance(target, proposal, r, x, y));
      const auto positions = second_positions(r, space.horizon(), second);
      Rational after = 0;
      for (const std::size_t s : positions)
        after += suffix_tokens(x, s) / Rational(positions.size());
      of_record[x] += restart(r) * (suffix_tokens(x, r) + rejected * after);
    }
  }
  return of_record;
}

}  // namespace tempera::reference
