#include "lab/laws/named_sampler_law.hpp"

#include <set>

#include "base/error.hpp"
#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "settings/named_sampler.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::named_sampler_law_test {

using lab::Rational;

TEST_CASE("every sampler by name is walked on shipped models, ladders at both rungs") {
  const auto uses = lab::read_shipped_uses(TEMPERA_SOURCE_DIR);
  for (const gpu::NamedSampler& sampler : gpu::named_samplers()) {
    CAPTURE(sampler.name);
    std::set<std::string> models;
    std::set<std::pair<gpu::Rung, gpu::Schedule>> read;
    for (const lab::ShippedUse& use : uses)
      for (const lab::NamedRun& run : lab::shipped_runs(use, std::string(sampler.name))) {
        models.insert(use.name);
        read.emplace(run.output, run.schedule);
        CHECK(run.horizon <= use.horizon);
        CHECK(run.powers.size() == (sampler.powers == gpu::NamedSampler::Powers::ladder ? 2 : 1));
      }
    CHECK(models.size() >= 8);
    CHECK(read.size() == (sampler.takes_output ? 2 : 1));
    CHECK(read.contains({1, gpu::Schedule::deo}) == sampler.takes_swaps);
  }
}

TEST_CASE("a sampler walked by its name holds, and not where a number is out of its bound") {
  const lab::NamedRun run{"uncoupled-ladder-by-likelihood", 2, 1, {1, 2}, 0, {1, 1, 1}};
  lab::ShippedSampler sound{
      "four_state.json", run,
      lab::named_sampler_law(run, shipped("four_state"), lab::program_named(run.sampler)), 0.0};
  CHECK(sound.holds());
  CHECK(sound.report.records == std::vector<std::string>{"a a", "a e", "e"});
  CHECK(sound.report.defined_tokens > 2);
  for (const auto spoil :
       {+[](lab::SamplerReport& report) { report.tv_own = lab::program_bound; },
        +[](lab::SamplerReport& report) { report.tokens_own = 1; },
        +[](lab::SamplerReport& report) { report.tv_to_definition = lab::target_bound; },
        +[](lab::SamplerReport& report) { report.stale_records = 1; }}) {
    lab::ShippedSampler spoilt = sound;
    spoil(spoilt.report);
    CHECK_FALSE(spoilt.holds());
  }
  // Under another sampler's name the same program does not hold.
  lab::NamedRun other = run;
  other.sampler = "uncoupled-ladder";
  other.output = 1;
  CHECK_FALSE(lab::ShippedSampler{
      "", other,
      lab::named_sampler_law(other, shipped("four_state"), lab::program_named(run.sampler)), 0.0}
                  .holds());
}

namespace {

/// A run of two rungs, or of one power, in two stages.
lab::NamedRun run_of(const std::string& sampler, std::vector<Rational> powers = {1, 3},
                     reference::StageSchedule stage = {1, 1, 1}) {
  lab::NamedRun run{sampler, 2, 1, std::move(powers), 0, stage};
  run.output = run.powers.size() - 1;
  return run;
}

lab::SamplerReport law_of(const lab::NamedRun& run, const std::string& model = "four_state") {
  return lab::named_sampler_law(run, shipped(model));
}

}  // namespace

TEST_CASE("chains that are walked by themselves have the law and tokens of their product") {
  for (const std::string sampler : {"uncoupled-ladder", "uncoupled-ladder-by-likelihood"})
    for (const std::string model : {"four_state", "several_terminals", "ties", "unequal_lengths"})
      for (const gpu::Rung output : {0U, 1U}) {
        CAPTURE(sampler, model, output);
        lab::NamedRun run = run_of(sampler, {1, 3}, {1, 2, 0});
        run.output = output;
        const auto apart = law_of(run, model);
        const auto product =
            lab::named_sampler_law(run, shipped(model), lab::program_named(sampler));
        CHECK(apart.answer == product.answer);
        CHECK(apart.decode_tokens == product.decode_tokens);
        CHECK(apart.defined == product.defined);
        CHECK(apart.stale_records == 0);
        CHECK(apart.states < product.states);
      }
}

TEST_CASE("early rejection leaves the law of every sampler that takes it, on fewer tokens") {
  bool saves = false;
  for (const std::string model : {"four_state", "unequal_lengths", "several_terminals"})
    for (const auto range : {gpu::RestartRange::horizon, gpu::RestartRange::record})
      for (lab::NamedRun run :
           {run_of("ppt"), run_of("ppt", {1, 2}, {1, 2, 1}), run_of("ppt", {1, 2}, {2, 1, 1}),
            run_of("uncoupled-ladder-by-likelihood", {2, 5}),
            run_of("fixed-horizon", {6}, {2, 2, 0})}) {
        CAPTURE(model, run.sampler, run.stage.rounds, run.stage.local_moves);
        run.restart_range = range;
        if (run.powers.size() == 1) run.horizon = 3;
        const auto plain = law_of(run, model);
        run.options.early_rejection = true;
        const auto early = law_of(run, model);
        CHECK(early.answer == plain.answer);
        CHECK(early.decode_tokens <= plain.decode_tokens);
        CHECK(early.stale_records == 0);
        CHECK(lab::ShippedSampler{model, run, early, 0.0}.holds());
        saves = saves || early.decode_tokens < plain.decode_tokens;
      }
  CHECK(saves);
}

TEST_CASE("moves that begin ahead leave the law of a sampler, on more tokens") {
  for (lab::NamedRun run :
       {run_of("fixed-horizon", {3}, {2, 2, 0}), run_of("ppt", {1, 3}, {1, 2, 1})})
    for (const bool early : {false, true}) {
      CAPTURE(run.sampler, early);
      const auto plain = law_of(run);
      run.options.prefetch = 1;
      run.options.early_rejection = early;
      const auto ahead = law_of(run);
      CHECK(ahead.answer == plain.answer);
      CHECK(ahead.stale_records == 0);
      if (!early) CHECK(ahead.decode_tokens > plain.decode_tokens);
      run.options = {};
    }
}

TEST_CASE("a sampler's law takes all of a run's ways of moving together") {
  for (lab::NamedRun run :
       {run_of("fixed-horizon", {2}, {2, 1, 0}), run_of("ppt", {1, 2}, {2, 1, 1})})
    for (const auto range : {gpu::RestartRange::horizon, gpu::RestartRange::record})
      for (const std::vector<std::uint64_t>& weights :
           {std::vector<std::uint64_t>{}, std::vector<std::uint64_t>{1, 2}}) {
        CAPTURE(run.sampler, range == gpu::RestartRange::record, weights.size());
        if (run.sampler == "ppt" && (range == gpu::RestartRange::horizon || weights.empty()))
          continue;  // two rungs take seconds
        run.horizon = 2;
        run.block = 2;
        run.restart_range = range;
        run.restart_weights = weights;
        run.options = {};
        const auto plain = law_of(run, "unequal_lengths");
        run.options.prefetch = 1;
        run.options.early_rejection = true;
        const auto all = law_of(run, "unequal_lengths");
        CHECK(all.answer == plain.answer);
        CHECK(all.stale_records == 0);
      }
}

TEST_CASE("a sampler's law takes restart weights and the record's own positions") {
  for (const std::string sampler : {"ppt", "uncoupled-ladder"}) {
    CAPTURE(sampler);
    lab::NamedRun run = run_of(sampler);
    run.horizon = 3;
    run.block = 2;
    const auto uniform = law_of(run, "unequal_lengths");
    run.restart_weights = {5, 1};
    const auto weighted = law_of(run, "unequal_lengths");
    run.restart_range = gpu::RestartRange::record;
    const auto own = law_of(run, "unequal_lengths");
    for (const auto* report : {&uniform, &weighted, &own})
      CHECK(lab::ShippedSampler{"", run, *report, 0.0}.holds());
    CHECK(uniform.answer != weighted.answer);
    CHECK(weighted.answer != own.answer);
    run.restart_weights = {0, 1};
    CHECK_THROWS_AS(law_of(run, "unequal_lengths"), BadInput);
  }
}

TEST_CASE("without local moves a sampler's law is that of its block extension, exchanged") {
  const auto still = law_of(run_of("fixed-horizon", {3}, {3, 0, 0}));
  CHECK(lab::ShippedSampler{"", run_of("fixed-horizon", {3}), still, 0.0}.holds());
  CHECK(still.answer == law_of(run_of("fixed-horizon", {3}, {0, 1, 0})).answer);
  CHECK(still.answer != law_of(run_of("fixed-horizon", {3}, {3, 1, 0})).answer);
  const auto swapped = law_of(run_of("ppt", {1, 3}, {1, 0, 1}));
  CHECK(lab::ShippedSampler{"", run_of("ppt"), swapped, 0.0}.holds());
  CHECK(swapped.answer != law_of(run_of("ppt", {1, 3}, {0, 1, 1})).answer);
}

}  // namespace tempera::named_sampler_law_test
