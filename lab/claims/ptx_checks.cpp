// The law of what nvcc compiled: tokens are drawn by the draw's PTX, everything else is the program
// of this build. Rational for rational the law with the host's draw.
#include "gpu/core/sampler/exact_rejection.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/enumerate/not_enumerable.hpp"
#include "lab/laws/question_kernels.hpp"

namespace tempera::lab {
namespace {

/// The shipped model of that name, or nullptr without it; then the check does not hold.
const reference::FiniteModel* model_named(const CheckContext& context, const std::string& name,
                                          Count& count) {
  for (const ShippedUse& use : context.uses)
    if (use.name == name) return &use.model;
  count.require(false, "no shipped model is called " + name);
  return nullptr;
}

/// Every local move and swap of some questions.
CheckResult compiled_draw_moves(const CheckContext& context) {
  Count count;
  const LawQuestion questions[] = {{3, {2.5}, {}}, {2, {1.0, 2.0}, {}}};
  const char* const models[] = {"four_state.json", "several_terminals.json"};
  for (const char* name : models) {
    const reference::FiniteModel* model = model_named(context, name, count);
    if (model == nullptr) continue;
    const FiniteLogits logits(*model);
    for (const LawQuestion& question : questions) {
      const CompiledSpace space(logits.enumerable(), question.horizon);
      const gpu::Ladder ladder(question.powers);
      LawQuestion through_ptx = question;
      through_ptx.rows = context.functions.of<ProgramFunctions>().ptx_rows;
      LawQuestion by_host = question;
      by_host.rows = gpu::make_host_row_lottery;
      QuestionKernels compiled(space, ladder, through_ptx);
      QuestionKernels host(space, ladder, by_host);
      const std::string where = std::string(name) + ", K = " + std::to_string(ladder.rungs());
      for (gpu::Rung k = 0; k < ladder.rungs(); ++k)
        count.expect(compiled.local_move(k) == host.local_move(k),
                     where + ": local moves of rung " + std::to_string(k + 1));
      for (gpu::Rung k = 0; k + 1 < ladder.rungs(); ++k)
        count.expect(compiled.swap(k) == host.swap(k), where + ": swaps");
      count.expect(compiled.stale_records() == 0, where + ": a stale record");
    }
  }
  return count.finding("matrices and caches");
}

/// Whole programs: Algorithm 1 on one rung in two stages of different counts, on three rungs in
/// one stage under both schedules, the truncating sampler in two stages, and exact rejection with
/// room for a second proposal.
/// tests/lab/ptx/row_lottery.cpp walks longer ones, which take minutes.
CheckResult compiled_draw_programs(const CheckContext& context) {
  Count count;
  const reference::FiniteModel* model = model_named(context, "several_terminals.json", count);
  if (model == nullptr) return count.finding("laws, token counts and caches");
  const auto walk_plan = [&](const std::string& where, Program program, std::size_t batch,
                             const std::vector<unsigned>& powers, const gpu::Plan& plan) {
    const FiniteLogits logits(*model);
    const gpu::Ladder ladder({powers.begin(), powers.end()});
    const auto through = [&](std::unique_ptr<gpu::RowLottery> rows) {
      return walk_program(program, logits.enumerable(), ladder, plan, Cuts::at_every_round, batch,
                          std::move(rows));
    };
    const WalkedProgram host = through(gpu::make_host_row_lottery());
    count.require(host.law.size() > 1, where + " has one outcome");
    try {
      const WalkedProgram compiled = through(context.functions.of<ProgramFunctions>().ptx_rows());
      count.expect(compiled.law == host.law, where);
      count.expect(compiled.decode_tokens == host.decode_tokens, where + ": its decode tokens");
      count.expect(compiled.stale_records == 0, where + ": a stale record");
    } catch (const NotEnumerable& error) {
      count.expect(false, where + ": " + error.what());
    }
  };
  const auto walk = [&](const std::string& where, Program program, std::size_t batch,
                        const ProgramQuestion& question) {
    walk_plan(where, program, batch, question.powers, question.plan());
  };
  for (const auto schedule : {gpu::Schedule::adj, gpu::Schedule::deo}) {
    const std::string under = schedule == gpu::Schedule::deo ? ", DEO" : ", ADJ";
    // One row a batch: more would multiply the states that are walked.
    walk("K = 3" + under, gpu::parallel_power_tempering, 1,
         {1, 1, {1, 2, 4}, {{1, 1, 1}}, schedule, 1});
  }
  walk("K = 1", gpu::parallel_power_tempering, 4, {2, 1, {3}, {{1, 2, 1}, {2, 1, 1}}});
  walk("the truncating sampler", gpu::truncating_power_sampling, 4,
       {2, 1, {2}, {{1, 2, 1}, {2, 1, 1}}});
  gpu::Plan proposals{gpu::make_stages(2, 2, {1}, {1}, {1})};
  proposals.until_kept = true;
  proposals.most_tokens = 3;
  walk_plan("exact rejection", gpu::exact_rejection<>, 1, {3}, proposals);
  return count.finding("laws, token counts and caches");
}

}  // namespace

std::map<std::string, Check> ptx_checks() {
  return {{"compiled_draw_moves", compiled_draw_moves},
          {"compiled_draw_programs", compiled_draw_programs}};
}

}  // namespace tempera::lab
