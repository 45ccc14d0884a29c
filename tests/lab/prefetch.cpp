// Prefetching is exact: with it the compiled program has the same rational law.
#include <stdexcept>

#include "gpu/sampler/refine.hpp"
#include "lab/canonical_records.hpp"
#include "lab/compiled_space.hpp"
#include "lab/program_walk.hpp"
#include "lab/tree_lottery.hpp"
#include "reference/model/finite_model.hpp"
#include "tests/catch.hpp"
#include "tests/lab/shipped.hpp"

using namespace tempera;
using lab::Rational;

namespace {

/// A proposal that was drawn ahead is used after an acceptance too.
struct KeepsThoseAhead : gpu::PaperRules {
  static bool outdates_those_ahead(const gpu::Event&) { return false; }
};

/// Proposals are thrown away after a rejection and kept after an acceptance.
struct TakesRejectionForAcceptance : gpu::PaperRules {
  static bool outdates_those_ahead(const gpu::Event& move) { return !move.accepted; }
};

/// The law of one rung's moves of a round, from every state.
template <class Rules>
std::vector<std::vector<Rational>> refinement(const lab::CompiledSpace& space, std::size_t moves,
                                              std::size_t prefetch, bool early,
                                              std::size_t& paths) {
  const gpu::Ladder ladder({1.0, 2.5, 6.0});
  const gpu::RestartLaw law = gpu::RestartLaw::uniform(space.horizon());
  lab::CanonicalRecords canonical(space.model(), ladder);
  std::vector<std::vector<Rational>> matrix(space.size(), std::vector<Rational>(space.size()));
  for (std::size_t s = 0; s < space.size(); ++s) {
    std::optional<gpu::Record> x;
    paths += lab::enumerate(
        [&](gpu::Lottery& tree) {
          x = canonical.copy(space.tokens(s), space.horizon());
          gpu::Engine engine(space.model().model, canonical.rows(), tree);
          gpu::Run run{engine, space.model().context, ladder};
          run.prefetch = prefetch;
          run.early_rejection = early;
          std::vector<gpu::Task> tasks;
          tasks.push_back(gpu::refine<Rules>(*x, run, 1, 0, moves, law));
          engine.run(tasks);
        },
        [&](const Rational& probability) {
          CHECK(canonical.stale_parts(*x).empty());
          matrix[s][space.find(x->token_ids())] += probability;
        });
  }
  return matrix;
}

/// Algorithm 1, one rung after the other: the walk then merges what a rung leaves before the next
/// begins. Its batches have room for what is ahead.
template <class Rules, std::size_t prefetch>
gpu::Task rung_by_rung(gpu::Run& run, const gpu::Plan& plan, gpu::Progress& progress,
                       gpu::Observer* observer) {
  run.prefetch = prefetch;
  if (progress.replicas.empty()) co_await gpu::initialize_replicas(run, progress.replicas);
  for (; progress.stage < plan.stages.size(); gpu::end_stage(progress)) {
    const gpu::Stage& stage = plan.stages[progress.stage];
    const gpu::RestartLaw law = gpu::RestartLaw::uniform(stage.horizon);
    co_await gpu::begin_stage(run, progress, stage.horizon, observer);
    while (progress.round < stage.rounds) {
      for (gpu::Rung k = 0; k < progress.replicas.size(); ++k)
        co_await gpu::refine<Rules>(progress.replicas[k], run, k, progress.local_moves,
                                    stage.local_moves, law);
      progress.local_moves += stage.local_moves;
      for (std::size_t b = 0; b < stage.sweeps; ++b)
        gpu::sweep(progress.replicas, run, plan.schedule, progress.sweeps++);
      ++progress.round;
      gpu::report(run, progress, observer);
    }
  }
}

gpu::Task prefetching(gpu::Run& run, const gpu::Plan& plan, gpu::Progress& progress,
                      gpu::Observer* observer) {
  run.prefetch = 2;
  return gpu::parallel_power_tempering(run, plan, progress, observer);
}

gpu::Task prefetching_early(gpu::Run& run, const gpu::Plan& plan, gpu::Progress& progress,
                            gpu::Observer* observer) {
  run.early_rejection = true;
  return prefetching(run, plan, progress, observer);
}

}  // namespace

TEST_CASE("prefetching leaves every entry of a rung's moves in a row as it is") {
  const auto [name, horizon, moves] = GENERATE(table<std::string, std::size_t, std::size_t>(
      {{"four_state", 2, 3}, {"unequal_lengths", 2, 2}, {"several_terminals", 2, 2}}));
  CAPTURE(name);
  const lab::FiniteLogits logits(shipped(name));
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  std::size_t plain = 0, ahead = 0, early = 0;
  const auto without = refinement<gpu::PaperRules>(space, moves, 0, false, plain);
  CHECK(refinement<gpu::PaperRules>(space, moves, 1, false, ahead) == without);
  CHECK(refinement<gpu::PaperRules>(space, moves, 1, true, early) == without);
  // What is drawn in vain branches too.
  CHECK(ahead > plain);
  CHECK(refinement<KeepsThoseAhead>(space, moves, 0, false, plain) == without);
  CHECK_FALSE(refinement<KeepsThoseAhead>(space, moves, 1, false, ahead) == without);
  CHECK_FALSE(refinement<TakesRejectionForAcceptance>(space, moves, 1, false, ahead) == without);
}

TEST_CASE("prefetching leaves the law of the whole of Algorithm 1 as it is") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const auto model = logits.enumerable();
  // Three rungs with swaps, two stages with counts of their own, two and three moves in a row.
  const gpu::Ladder ladder({1.0, 2.0, 4.0});
  const gpu::Plan plan{{{1, 1, 2, 1}, {2, 1, 3, 2}}, gpu::Schedule::adj, 1};
  const auto walk = [&](lab::Program program, std::size_t largest_batch) {
    return lab::walk_program(program, model, ladder, plan, lab::Cuts::at_every_round,
                             largest_batch);
  };
  const auto whole = walk(gpu::parallel_power_tempering, 1);
  const auto ahead = walk(rung_by_rung<gpu::PaperRules, 2>, 4);
  CHECK(ahead.law == whole.law);
  CHECK(ahead.stale_records == 0);
  CHECK(ahead.states > whole.states);
  CHECK(ahead.decode_tokens > whole.decode_tokens);
  const auto is_caught = [&](lab::Program program) {
    try {
      return !(walk(program, 4).law == whole.law);
    } catch (const std::logic_error&) {
      return true;
    }
  };
  CHECK(is_caught(rung_by_rung<KeepsThoseAhead, 2>));
}

TEST_CASE("prefetching among rungs side by side leaves every path's law as it is") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const auto model = logits.enumerable();
  const auto [powers, stages] = GENERATE(table<std::vector<double>, std::vector<gpu::Stage>>(
      {{{1.0, 3.0}, {{1, 1, 2, 1}}}, {{6.0}, {{1, 1, 1, 1}, {2, 1, 2, 1}}}}));
  const gpu::Ladder ladder(powers);
  const gpu::Plan plan{stages, gpu::Schedule::adj, 0};
  const auto whole = lab::walk_every_path(gpu::parallel_power_tempering, model, ladder, plan);
  const auto ahead = lab::walk_every_path(prefetching, model, ladder, plan);
  const auto early = lab::walk_every_path(prefetching_early, model, ladder, plan);
  CHECK(ahead.law == whole.law);
  CHECK(early.law == whole.law);
  CHECK(ahead.stale_records + early.stale_records == 0);
  CHECK(ahead.decode_tokens > whole.decode_tokens);
}
