#include "reference/report/mixing_report.hpp"

#include <map>
#include <numeric>

#include "base/error.hpp"
#include "reference/analysis/rounded_gap.hpp"
#include "reference/kernels/carried_tempering.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/report/carried_report.hpp"

namespace tempera::reference {
namespace {

void refuse_size(const char* asked, std::size_t states, std::size_t limit) {
  if (states >= 2 && states <= limit) return;
  const char* const noun = states == 1 ? " state" : " states";
  throw BadInput(asked, "is asked of " + std::to_string(states) + noun,
                 "choose a model, horizon and ladder of 2 to " + std::to_string(limit) + " states");
}

// The classes of states by the first token of the last rung's record, which changes fastest.
struct FirstTokens {
  std::vector<std::size_t> class_of;
  std::vector<std::string> names;
};

FirstTokens first_tokens(const std::vector<std::string>& records, std::size_t states) {
  FirstTokens found;
  std::map<std::string, std::size_t> classes;
  for (std::size_t state = 0; state < states; ++state) {
    const std::string& record = records[state % records.size()];
    const std::string token = record.substr(0, record.find(' '));
    const auto [place, is_new] = classes.emplace(token, classes.size());
    if (is_new) found.names.push_back(token);
    found.class_of.push_back(place->second);
  }
  return found;
}

template <class Chain>
std::optional<NamedCut> cut_between(const Chain& chain, const Law& target,
                                    const std::vector<std::size_t>& class_of,
                                    const std::vector<std::string>& names) {
  const auto cut = narrowest_cut(flows_between(chain, target, class_of, names.size()));
  if (!cut) return std::nullopt;
  NamedCut named{*cut, {}};
  for (const std::size_t a : cut->classes) named.classes.push_back(names[a]);
  return named;
}

template <class Chain>
void find_cuts(MixingReport& report, const Chain& chain, const Law& target,
               const std::vector<std::string>& records, const std::vector<std::string>& states) {
  const FirstTokens tokens = first_tokens(records, target.size());
  report.first_token_cut = cut_between(chain, target, tokens.class_of, tokens.names);
  if (target.size() > all_cuts_limit) return;
  std::vector<std::size_t> alone(target.size());
  std::iota(alone.begin(), alone.end(), std::size_t{0});
  report.any_cut = cut_between(chain, target, alone, states);
}

// Cuts alone, of spaces whose matrix would be too large.
MixingReport report_carried_cuts(const AskedChain& about) {
  const CarriedTempering kernels(about.model(), about.asked().horizon, about.ladder(),
                                 about.restart());
  const CarriedChain chain = about.ladder().rungs() == 1         ? kernels.local_sweep()
                             : about.schedule() == Schedule::adj ? kernels.transition(1, 1)
                                                                 : kernels.deo_transition();
  refuse_size("cuts", chain.size(), cut_states_limit);
  std::vector<std::string> records;
  for (std::size_t x = 0; x < kernels.tree().size(); ++x) records.push_back(kernels.tree().name(x));
  Law target;
  for (std::size_t state = 0; state < chain.size(); ++state)
    target.push_back(kernels.target(state));
  MixingReport report;
  find_cuts(report, chain, target, records, {});
  return report;
}

}  // namespace

MixingReport report_mixing(const FiniteModel& model, const Ladder& ladder, Schedule schedule,
                           const ExactQuestion& asked, const MixingQuestion& mixing) {
  AskedChain chain(model, ladder, schedule, asked);
  return report_mixing(chain, mixing);
}

MixingReport report_mixing(AskedChain& about, const MixingQuestion& mixing) {
  const Ladder& ladder = about.ladder();
  const ExactQuestion& asked = about.asked();
  if (is_carried(about.model(), asked.horizon, ladder.rungs()) &&
      asked.range == RestartRange::horizon && !mixing.gap && !mixing.within)
    return report_carried_cuts(about);
  const FixedHorizonSpace& space = about.space();
  // Before the matrices of the rungs, which take time.
  const std::size_t states = joint_states_up_to(cut_states_limit, space.size(), ladder.rungs());
  if (mixing.gap) refuse_size("gap", states, joint_limit);
  if (mixing.within) refuse_size("mixing time", states, joint_limit);
  if (mixing.cuts) refuse_size("cuts", states, cut_states_limit);
  const ParallelTempering& kernels = about.kernels();
  const FactoredKernel chain = ladder.rungs() == 1                 ? kernels.local_sweep()
                               : about.schedule() == Schedule::adj ? kernels.transition(1, 1)
                                                                   : kernels.deo_transition();
  const Law target = kernels.target();
  const std::vector<std::string> names = joint_names(space, ladder.rungs());
  MixingReport report;
  if (mixing.gap) {
    mixing.progress("gap");
    report.second = rounded_second_eigenvalue(
        chain.rounded_matrix(), target,
        ladder.rungs() == 1 ? Reversible::itself : Reversible::with_reverse);
  }
  if (mixing.within) {
    report.time = mixing_time(chain, target, *mixing.within, mixing.progress);
    if (!report.time)
      throw BadInput("mixing time", "is more than " + std::to_string(mixing_steps_limit) + " steps",
                     "choose a larger distance, or a chain that reaches every state");
    report.worst_start = names[report.time->worst_start];
  }
  if (mixing.cuts) find_cuts(report, chain, target, space.names(), names);
  return report;
}

}  // namespace tempera::reference
