#include "lab/laws/named_sampler_law.hpp"

#include <set>

#include "gpu/session/named_sampler.hpp"
#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;

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
