// Seconds of the exact side and of the compiled law by number of states, and their ratio within one
// run.
#include "lab/laws/law.hpp"

#include <cstdio>

#include "bench/seconds_of.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/parallel_tempering.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

/// What `tempera exact` computes: verdicts and ten steps of total variation.
void exact(const reference::FiniteModel& model, std::size_t horizon,
           const std::vector<unsigned>& powers) {
  const reference::FixedHorizonSpace space(model, horizon);
  std::vector<reference::Power> rungs;
  for (const unsigned power : powers) rungs.emplace_back(reference::Rational(power));
  const reference::ParallelTempering chain(space, reference::Ladder(rungs),
                                           reference::RestartLaw::uniform(horizon));
  const reference::FactoredKernel round = chain.transition(1, powers.size() > 1 ? 1 : 0);
  const auto tokens = reference::token_counts(space, powers.size());
  reference::first_violation_of_invariance(round, chain.target(), tokens);
  reference::first_violation_of_detailed_balance(round, chain.target(), tokens);
  reference::total_variation_curve({round}, 0, chain.target(), 10);
}

}  // namespace

int main() {
  const std::string folder = TEMPERA_SOURCE_DIR "/toy_models/";
  struct Case {
    const char* file;
    std::size_t horizon;
    std::vector<unsigned> powers;
  };
  const std::vector<Case> cases{
      {"four_state.json", 2, {2}},          {"geometric_length.json", 8, {2}},
      {"geometric_length.json", 24, {2}},   {"never_ends.json", 5, {3}},
      {"never_ends.json", 6, {3}},          {"four_state.json", 2, {1, 2}},
      {"unequal_lengths.json", 5, {1, 3}},  {"ties.json", 3, {1, 3}},
      {"geometric_length.json", 7, {1, 2}}, {"four_state.json", 10, {1, 2}}};
  std::printf("%-26s %4s %4s %8s %12s %12s %12s\n", "model", "T", "K", "states", "exact, s",
              "law, s", "law / exact");
  for (const Case& one : cases) {
    const auto model = reference::load_finite_model(folder + one.file);
    const lab::FiniteLogits logits(model);
    const std::vector<double> powers(one.powers.begin(), one.powers.end());
    std::size_t states = 0;
    const double exact_seconds = seconds_of([&] { exact(model, one.horizon, one.powers); });
    const double law_seconds = seconds_of([&] {
      states =
          lab::compiled_law(logits.enumerable(), &model, {one.horizon, powers, {}}).states.size();
    });
    std::printf("%-26s %4zu %4zu %8zu %12.4f %12.4f %12.1f\n", one.file, one.horizon,
                one.powers.size(), states, exact_seconds, law_seconds, law_seconds / exact_seconds);
  }
}
