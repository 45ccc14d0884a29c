#include "lab/enumerate/program_walk.hpp"

#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "lab/enumerate/small_transformer.hpp"
#include "reference/model/finite_model.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;
using lab::Cuts;
using lab::Rational;

namespace {

struct Case {
  std::string model;
  std::vector<double> powers;
  gpu::Schedule schedule;
  std::vector<std::size_t> rounds, local_moves, sweeps;  // of each stage
  gpu::Rung output;

  gpu::Plan plan() const {
    return {gpu::make_stages(rounds.size(), 1, rounds, local_moves, sweeps), schedule, output};
  }
};

Rational total(const lab::OutcomeLaw& law) {
  Rational sum = 0;
  for (const auto& [outcome, probability] : law) sum += probability;
  return sum;
}

/// Algorithm 1, whose last two records then exchange what they hold but for their tokens.
gpu::Task leaving_caches(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                         gpu::Observer* observer) {
  co_await gpu::parallel_power_tempering(run, plan, progress, observer);
  progress.replicas[0].exchange_cache(progress.replicas[1]);
}

/// Remembers its first decision if the walk does not see it: its third draw has as many
/// outcomes.
gpu::Task forgetful(gpu::Chain& run, const gpu::Plan&, gpu::Progress& progress, gpu::Observer*) {
  co_await gpu::initialize_replicas(run, progress.replicas);
  gpu::Turn turn(run, 0, 0, gpu::Purpose::proposal_token);
  const std::size_t hidden = turn.restart(std::vector<std::uint64_t>(3, 1));
  turn.accept(-1.0);  // a move that has ended
  gpu::Turn next(run, 0, 1, gpu::Purpose::proposal_token);
  next.restart(std::vector<std::uint64_t>(hidden, 1));
}

}  // namespace

TEST_CASE("the walk by states, cut at every round or in one piece, is the law of every path") {
  const Case one =
      GENERATE(Case{"four_state", {2.0}, gpu::Schedule::adj, {1, 1}, {2, 1}, {2, 1}, 0},
               Case{"unequal_lengths", {3.0}, gpu::Schedule::adj, {2, 1}, {1, 1}, {1, 1}, 0},
               Case{"unequal_lengths", {1.0, 2.0}, gpu::Schedule::adj, {1}, {1}, {2}, 0},
               Case{"unequal_lengths", {1.0, 2.0}, gpu::Schedule::deo, {1}, {1}, {3}, 1},
               Case{"deep_chain", {1.0, 2.0, 4.0}, gpu::Schedule::deo, {1}, {1}, {2}, 1});
  CAPTURE(one.model, one.powers.size());
  const lab::FiniteLogits logits(shipped(one.model));
  const lab::EnumerableModel model = logits.enumerable();
  const gpu::Ladder ladder(one.powers);
  const auto program = gpu::parallel_power_tempering;
  const auto paths = lab::walk_every_path(program, model, ladder, one.plan());
  const auto piece = lab::walk_program(program, model, ladder, one.plan(), Cuts::none);
  const auto cut = lab::walk_program(program, model, ladder, one.plan());
  const auto rows = lab::walk_program(program, model, ladder, one.plan(), Cuts::none, 4);
  CHECK(total(paths.law) == Rational(1));
  CHECK(paths.law.size() > 1);
  CHECK(piece.law == paths.law);
  CHECK(cut.law == paths.law);
  CHECK(rows.law == paths.law);  // of several rungs in a batch
  CHECK(piece.runs < paths.runs);
  CHECK(paths.stale_records + piece.stale_records + cut.stale_records + rows.stale_records == 0);
}

TEST_CASE("the walk by states is the law of every path of the truncating sampler") {
  const Case one{"unequal_lengths", {2.0}, gpu::Schedule::adj, {1, 1}, {2, 1}, {1, 1}, 0};
  const lab::FiniteLogits logits(shipped(one.model));
  const lab::EnumerableModel model = logits.enumerable();
  const gpu::Ladder ladder(one.powers);
  const auto program = gpu::truncating_power_sampling;
  const auto paths = lab::walk_every_path(program, model, ladder, one.plan());
  CHECK(total(paths.law) == Rational(1));
  CHECK(lab::walk_program(program, model, ladder, one.plan(), Cuts::none).law == paths.law);
  CHECK(lab::walk_program(program, model, ladder, one.plan()).law == paths.law);
}

TEST_CASE("cut or in one piece, the walk of two stages of two rungs is one law") {
  const auto schedule = GENERATE(gpu::Schedule::adj, gpu::Schedule::deo);
  const Case one{"zero_probabilities", {1.0, 3.0}, schedule, {1, 2}, {2, 1}, {1, 2}, 0};
  const lab::FiniteLogits logits(shipped(one.model));
  const gpu::Ladder ladder(one.powers);
  const auto piece = lab::walk_program(gpu::parallel_power_tempering, logits.enumerable(), ladder,
                                       one.plan(), Cuts::none);
  const auto cut =
      lab::walk_program(gpu::parallel_power_tempering, logits.enumerable(), ladder, one.plan());
  CHECK(piece.law == cut.law);
  CHECK(total(cut.law) == Rational(1));
  CHECK(piece.stale_records + cut.stale_records == 0);
  // In many pieces, of the records that share the first rung's.
  const auto many =
      lab::walk_program(gpu::parallel_power_tempering, logits.enumerable(), ladder, one.plan(),
                        Cuts::at_every_round, 1, gpu::make_device_row_lottery(), 1);
  CHECK(many.law == cut.law);
  CHECK(many.decode_tokens == cut.decode_tokens);
  CHECK(many.states > cut.states);
}

TEST_CASE("a transformer's caches and pages are walked as a table's are") {
  const auto transformer = lab::small_transformer(3, 17);
  const lab::EnumerableModel model{*transformer, {{1}, {0}}, {"e", "a", "b"}};
  const Case one{"", {1.0, 4.0}, gpu::Schedule::adj, {1}, {1}, {1}, 1};
  const gpu::Ladder ladder(one.powers);
  const auto program = gpu::parallel_power_tempering;
  const auto paths = lab::walk_every_path(program, model, ladder, one.plan());
  const auto cut = lab::walk_program(program, model, ladder, one.plan());
  const auto rows = lab::walk_program(program, model, ladder, one.plan(), Cuts::none, 4);
  CHECK(cut.law == paths.law);
  CHECK(cut.stale_records + paths.stale_records == 0);
}

TEST_CASE("a program that leaves a record with another's cache is found to leave it stale") {
  const lab::FiniteLogits logits(shipped("unequal_lengths"));
  const gpu::Plan plan{gpu::make_stages(2, 2, {1}, {1}, {1}), gpu::Schedule::adj, 0};
  const gpu::Ladder ladder({1.0, 2.0});
  const lab::EnumerableModel model = logits.enumerable();
  CHECK(lab::walk_program(leaving_caches, model, ladder, plan, Cuts::none).stale_records > 0);
  CHECK(lab::walk_program(leaving_caches, model, ladder, plan).stale_records > 0);
  CHECK(lab::walk_every_path(leaving_caches, model, ladder, plan).stale_records > 0);
}

TEST_CASE("a program whose future depends on more than its state is found out") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const gpu::Plan plan{gpu::make_stages(1, 1, {1}, {1}, {1}), gpu::Schedule::adj, 0};
  CHECK_THROWS_AS(
      lab::walk_program(forgetful, logits.enumerable(), gpu::Ladder({2.0}), plan, Cuts::none),
      lab::NotEnumerable);
}

TEST_CASE("the answer is the record of the output rung") {
  const lab::FiniteLogits logits(shipped("zero_probabilities"));
  for (const gpu::Rung output : {0, 1}) {
    const Case one{"", {1.0, 4.0}, gpu::Schedule::adj, {1}, {1}, {1}, output};
    const auto walked = lab::walk_program(gpu::parallel_power_tempering, logits.enumerable(),
                                          gpu::Ladder(one.powers), one.plan());
    for (const auto& [outcome, probability] : walked.law)
      CHECK(outcome.answer == outcome.records.at(output));
  }
}
