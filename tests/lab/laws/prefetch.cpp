// Prefetching is exact: with it the compiled program has the same rational law.
#include <map>
#include <stdexcept>

#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/refine.hpp"
#include "lab/enumerate/canonical_records.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/enumerate/tree_lottery.hpp"
#include "reference/model/finite_model.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::laws_prefetch_test {

using namespace tempera;
using lab::Rational;

/// A proposal that was drawn ahead is used after an acceptance too.
struct KeepsBehindMoves : gpu::PaperRules {
  static bool outdates_those_ahead(const gpu::Event& step) {
    return step.changed && step.kind == gpu::Event::Kind::swap;
  }
};

/// And after a swap.
struct KeepsBehindSwaps : gpu::PaperRules {
  static bool outdates_those_ahead(const gpu::Event& step) {
    return step.changed && step.kind == gpu::Event::Kind::local_move;
  }
};

/// Proposals are thrown away after a rejection and kept after an acceptance.
struct TakesRejectionForAcceptance : gpu::PaperRules {
  static bool outdates_those_ahead(const gpu::Event& step) { return !step.accepted; }
};

namespace {

/// Step 2 and step 3 of some rounds, one rung after the other, so that a walk merges what a rung
/// leaves before the next begins.
template <class Rules>
gpu::Task refinement_rounds(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                            gpu::Observer* observer) {
  const gpu::Stage& stage = plan.stages[progress.stage];
  const auto law = gpu::RestartLaw::in_parts(plan.restart_weights, stage.horizon);
  std::vector<gpu::MovesAhead> begun(progress.replicas.size());
  while (progress.round < stage.rounds) {
    const gpu::MoveNumbers numbers = gpu::moves_of_round(progress, stage);
    for (gpu::Rung k = 0; k < progress.replicas.size(); ++k)
      co_await gpu::refine<Rules>(progress.replicas[k], run, k, numbers, law, begun[k]);
    progress.local_moves = numbers.round_end;
    for (std::size_t b = 0; b < stage.sweeps; ++b)
      gpu::sweep(progress.replicas, run, plan.schedule, progress.sweeps++);
    gpu::end_outdated<Rules>(begun, run.events);
    ++progress.round;
    gpu::report(run, progress, observer);
  }
}

/// The law of the rounds of a stage from one joint state, a number of a record for each rung.
struct Refinement {
  std::map<std::vector<std::size_t>, Rational> law;
  std::size_t paths = 0;
  std::size_t stale_records = 0;
};

struct Ahead {
  std::size_t prefetch = 0;
  bool early = false;
};

template <class Rules = gpu::PaperRules>
Refinement refinement(const lab::CompiledSpace& space, const gpu::Ladder& ladder,
                      const gpu::Plan& plan, const std::vector<std::size_t>& from,
                      const Ahead& ahead) {
  lab::CanonicalRecords canonical(space.model(), ladder);
  Refinement left;
  gpu::Progress progress;
  left.paths = lab::enumerate(
      [&](gpu::Lottery& tree) {
        progress = {};
        for (const std::size_t s : from)
          progress.replicas.push_back(canonical.copy(space.tokens(s), space.horizon()));
        gpu::Engine engine(space.model().model, canonical.rows(), tree);
        gpu::Chain run{engine, space.model().context, ladder};
        run.options.prefetch = ahead.prefetch;
        run.options.early_rejection = ahead.early;
        std::vector<gpu::Task> tasks;
        tasks.push_back(refinement_rounds<Rules>(run, plan, progress, nullptr));
        engine.run(tasks);
      },
      [&](const Rational& probability) {
        std::vector<std::size_t> to;
        for (const gpu::Record& record : progress.replicas) {
          left.stale_records += canonical.stale_parts(record).empty() ? 0 : 1;
          to.push_back(space.find(record.token_ids()));
        }
        left.law[to] += probability;
      });
  return left;
}

/// Algorithm 1, one rung after the other. Its batches have room for what is ahead.
template <class Rules, std::size_t prefetch>
gpu::Task rung_by_rung(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                       gpu::Observer* observer) {
  run.options.prefetch = prefetch;
  if (progress.replicas.empty()) co_await gpu::initialize_replicas(run, progress.replicas);
  for (; progress.stage < plan.stages.size(); gpu::end_stage(progress)) {
    co_await gpu::begin_stage(run, progress, plan.stages[progress.stage].horizon, observer);
    co_await refinement_rounds<Rules>(run, plan, progress, observer);
  }
}

gpu::Task prefetching(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                      gpu::Observer* observer) {
  run.options.prefetch = 2;
  return gpu::parallel_power_tempering(run, plan, progress, observer);
}

gpu::Task prefetching_early(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                            gpu::Observer* observer) {
  run.options.early_rejection = true;
  return prefetching(run, plan, progress, observer);
}

}  // namespace

TEST_CASE("prefetching leaves every entry of a rung's moves as it is, in one round or in several") {
  const auto [name, horizon, moves] = GENERATE(table<std::string, std::size_t, std::size_t>(
      {{"four_state", 2, 3}, {"unequal_lengths", 2, 2}, {"several_terminals", 2, 2}}));
  CAPTURE(name);
  const lab::FiniteLogits logits(shipped(name));
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  const gpu::Ladder ladder({2.5});
  const gpu::Plan in_a_row{{{horizon, 1, moves, 0}}};
  const gpu::Plan in_rounds{{{horizon, moves, 1, 0}}};
  for (const gpu::Plan& plan : {in_a_row, in_rounds}) {
    bool keeps_behind_moves = false, takes_rejection = false;
    for (std::size_t s = 0; s < space.size(); ++s) {
      const Refinement plain = refinement(space, ladder, in_a_row, {s}, {0});
      const Refinement ahead = refinement(space, ladder, plan, {s}, {1});
      CHECK(ahead.law == plain.law);
      CHECK(refinement(space, ladder, plan, {s}, {1, true}).law == plain.law);
      CHECK(plain.stale_records + ahead.stale_records == 0);
      // What is drawn and wasted branches too.
      CHECK(ahead.paths > plain.paths);
      CHECK(refinement<KeepsBehindMoves>(space, ladder, plan, {s}, {0}).law == plain.law);
      CHECK(refinement<KeepsBehindSwaps>(space, ladder, plan, {s}, {1}).law == plain.law);
      keeps_behind_moves |=
          refinement<KeepsBehindMoves>(space, ladder, plan, {s}, {1}).law != plain.law;
      takes_rejection |=
          refinement<TakesRejectionForAcceptance>(space, ladder, plan, {s}, {1}).law != plain.law;
    }
    CHECK(keeps_behind_moves);
    CHECK(takes_rejection);
  }
}

TEST_CASE("prefetching beyond a round leaves the law of two rungs' rounds with swaps", "[long]") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const lab::CompiledSpace space(logits.enumerable(), 2);
  REQUIRE(space.size() == 3);
  const gpu::Ladder ladder({2.0, 5.0});
  const gpu::Plan plan{{{2, 2, 1, 1}}, gpu::Schedule::adj, 0};
  for (const std::vector<std::size_t>& from :
       std::vector<std::vector<std::size_t>>{{0, 1}, {2, 0}}) {
    const Refinement plain = refinement(space, ladder, plan, from, {0});
    const Refinement ahead = refinement(space, ladder, plan, from, {1});
    CHECK(ahead.law == plain.law);
    CHECK(ahead.paths > plain.paths);
    CHECK(ahead.stale_records == 0);
  }
  const std::vector<std::size_t> from{2, 0};
  const auto law = refinement(space, ladder, plan, from, {0}).law;
  CHECK(refinement<KeepsBehindSwaps>(space, ladder, plan, from, {0}).law == law);
  CHECK(refinement<KeepsBehindSwaps>(space, ladder, plan, from, {1}).law != law);
  CHECK(refinement<KeepsBehindMoves>(space, ladder, plan, from, {1}).law != law);
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
    } catch (const Error&) {
      return true;
    }
  };
  CHECK(is_caught(rung_by_rung<KeepsBehindMoves, 2>));
}

namespace {

struct Rounds {
  std::vector<double> powers;
  std::vector<gpu::Stage> stages;
  gpu::Schedule schedule = gpu::Schedule::adj;
  gpu::RestartRange range = gpu::RestartRange::horizon;
};

}  // namespace

TEST_CASE("prefetching beyond a round leaves the law of Algorithm 1 as it is", "[long]") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const auto model = logits.enumerable();
  // One local move a round, as in the paper's presets.
  const Rounds one = GENERATE(
      Rounds{{2.0, 5.0}, {{1, 2, 1, 1}, {2, 3, 1, 1}}},
      Rounds{{2.0, 5.0}, {{2, 3, 1, 2}}, gpu::Schedule::deo},
      Rounds{{2.0, 5.0}, {{2, 3, 1, 1}}, gpu::Schedule::adj, gpu::RestartRange::record},
      Rounds{{1.0, 2.0, 5.0}, {{2, 2, 1, 1}}}, Rounds{{3.0}, {{1, 2, 1, 0}, {2, 3, 1, 0}}});
  const gpu::Ladder ladder(one.powers);
  const gpu::Plan plan{one.stages, one.schedule, 0, 0, {}, one.range};
  const auto whole = lab::walk_program(gpu::parallel_power_tempering, model, ladder, plan);
  const auto walk_ahead = [&](lab::Program program) {
    return lab::walk_program(program, model, ladder, plan, lab::Cuts::none, 4);
  };
  const auto ahead = walk_ahead(prefetching);
  CHECK(ahead.law == whole.law);
  CHECK(ahead.stale_records == 0);
  CHECK(ahead.decode_tokens > whole.decode_tokens);
  const auto is_caught = [&](lab::Program program) {
    try {
      return !(walk_ahead(program).law == whole.law);
    } catch (const Error&) {
      return true;
    }
  };
  if (one.schedule == gpu::Schedule::adj) return;
  CHECK_FALSE(is_caught(rung_by_rung<gpu::PaperRules, 2>));
  CHECK(is_caught(rung_by_rung<KeepsBehindSwaps, 2>));
  CHECK(is_caught(rung_by_rung<KeepsBehindMoves, 2>));
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

}  // namespace tempera::laws_prefetch_test
