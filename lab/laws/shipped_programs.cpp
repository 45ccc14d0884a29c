#include "lab/laws/shipped_programs.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "lab/laws/shipped_laws.hpp"

namespace tempera::lab {
namespace {

/// The most joint states of a program that is walked: the cost grows with their number times that
/// of the restart positions that the rungs hold at once.
constexpr std::size_t most_outcomes = 64;

struct Asked {
  const ShippedUse* use;
  bool truncating;
  ProgramQuestion question;
};

/// Two stages on records of horizons 2 and 3, if so many outcomes can be walked: at a first
/// stage of horizon 1 the proposal is the target, so that no count of it could be seen. Else of 1
/// and 2.
bool choose_stages(const ShippedUse& use, std::size_t rungs, ProgramQuestion& question) {
  for (const std::size_t horizon : {3, 2}) {
    const std::size_t reached = std::min(horizon, use.horizon);
    const std::size_t records = reference::FixedHorizonSpace(use.model, reached).size();
    question.horizon = reached;
    question.block = std::max<std::size_t>(1, reached - 1);
    if (joint_states(records, rungs) <= most_outcomes) return true;
  }
  return false;
}

/// The programs of one model, two local moves and two sweeps a round.
void ask(const ShippedUse& use, std::vector<Asked>& programs) {
  ProgramQuestion question{1, 1, {use.power}, {{1, 2, 2}}};
  if (!choose_stages(use, 1, question)) return;
  programs.push_back({&use, true, question});
  programs.push_back({&use, false, question});
  for (const std::vector<unsigned>& powers :
       {std::vector{1U, use.power}, std::vector{1U, use.power, use.power + 2}}) {
    if (powers[0] == powers[1] || !choose_stages(use, powers.size(), question)) return;
    question.powers = powers;
    question.output = powers.size() - 2;
    for (const auto schedule : {gpu::Schedule::adj, gpu::Schedule::deo}) {
      question.schedule = schedule;
      programs.push_back({&use, false, question});
    }
  }
}

}  // namespace

bool ShippedProgram::holds() const {
  return report.tv_own < program_bound && report.tv_to_target < target_bound &&
         report.stale_records == 0;
}

std::vector<ShippedProgram> shipped_programs(
    const std::vector<ShippedUse>& uses,
    const std::function<void(const ShippedProgram&, std::size_t)>& done, MakeRows rows,
    const WalkedSize& most) {
  std::vector<Asked> programs;
  std::set<std::string> models;
  for (const ShippedUse& use : uses)
    if (models.insert(use.name).second) ask(use, programs);
  std::erase_if(programs, [&](const Asked& asked) {
    return !most.allows(asked.use->model, asked.question.horizon, asked.question.powers.size());
  });
  std::vector<ShippedProgram> walked;
  for (auto& [use, truncating, question] : programs) {
    question.rows = rows;
    const auto begin = std::chrono::steady_clock::now();
    ShippedProgram program{use->name, truncating, question, {}, 0.0};
    program.report = truncating ? truncating_program(use->model, question)
                                : tempering_program(use->model, question);
    program.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    walked.push_back(std::move(program));
    if (done) done(walked.back(), programs.size());
  }
  return walked;
}

}  // namespace tempera::lab
