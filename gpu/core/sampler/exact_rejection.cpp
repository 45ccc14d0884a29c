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

template Task exact_rejection<RejectionRules>(Chain& chain, const Plan& plan, Progress& progress,
                                              Observer* observer);

}  // namespace tempera::gpu
