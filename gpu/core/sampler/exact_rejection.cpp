#include "gpu/core/sampler/exact_rejection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempera::gpu {

void note_survival(Progress& progress, std::size_t t, double log_z) {
  if (progress.survival.size() < t) progress.survival.resize(t);
  progress.survival[t - 1].sum += exponential(std::min(0.0, log_z));
  ++progress.survival[t - 1].proposals;
}

void tell_with(Event& dead, Event proposal, std::size_t number) {
  if (!proposal.drawn.empty()) {
    dead.drawn.push_back(static_cast<TokenId>(dead.proposals));
    dead.drawn.push_back(static_cast<TokenId>(proposal.drawn.size()));
    dead.drawn.insert(dead.drawn.end(), proposal.drawn.begin(), proposal.drawn.end());
  }
  proposal.drawn = std::move(dead.drawn);
  proposal.proposals = dead.proposals + 1;
  proposal.tokens += dead.tokens;
  proposal.turn = static_cast<std::uint32_t>(number);
  dead = std::move(proposal);
}

double tokens_of_an_answer(const Progress& progress, std::size_t horizon) {
  if (progress.survival.empty()) return std::numeric_limits<double>::infinity();
  double log_share = 0.0;
  double tokens = 0.0;
  for (const Progress::Survival& at : progress.survival) {
    log_share += std::log(at.sum / static_cast<double>(at.proposals));
    tokens += static_cast<double>(at.proposals);
  }
  const double reached = static_cast<double>(progress.survival.size());
  const double of_proposal = tokens / static_cast<double>(progress.survival.front().proposals);
  return of_proposal * std::exp(-log_share * static_cast<double>(horizon) / reached);
}

double tokens_for_an_answer(const Progress& progress, std::size_t horizon, double chance) {
  return -std::log(1.0 - chance) * tokens_of_an_answer(progress, horizon) +
         static_cast<double>(horizon);
}

template Task exact_rejection<RejectionRules>(Chain& chain, const Plan& plan, Progress& progress,
                                              Observer* observer);

}  // namespace tempera::gpu
