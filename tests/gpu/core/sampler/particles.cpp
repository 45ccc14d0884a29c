// Samplers of particles on a small transformer: the same bits whatever the batch and wherever a run
// is cut, no address twice, and the answer that the rule gives.
#include <algorithm>
#include <cmath>
#include <set>

#include "gpu/core/sampler/best_of_n.hpp"
#include "gpu/core/sampler/power_smc.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "gpu/core/sampler/uncoupled_ladder.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/lottery/recording_lottery.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu::particles_test {
namespace {

using Program = Task (*)(Chain&, const Plan&, Progress&, Observer*);

const Context particle_context{{3, 4}, {0, 1}};

Plan particle_plan(std::size_t particles) {
  Plan plan{make_stages(9, 2, {0}, {0}, {0})};
  plan.particles = particles;
  return plan;
}

/// Keeps all events, and stops a run at its `cut`th rest.
struct Cutter final : Observer {
  explicit Cutter(std::size_t cut = 1000) : left(cut) {}
  void round_ended(const Progress& progress, std::span<const Event> now) override {
    events.insert(events.end(), now.begin(), now.end());
    if (left-- > 1) return;
    kept.stage = progress.stage;
    kept.extended = progress.extended;
    kept.resampled = progress.resampled;
    for (const Record& record : progress.replicas) tokens.push_back(record.token_ids());
    throw std::runtime_error("cut");
  }
  std::size_t left;
  Progress kept;
  std::vector<std::vector<TokenId>> tokens;
  std::vector<Event> events;
};

struct Ended {
  std::vector<std::vector<TokenId>> tokens;
  std::size_t answer = 0;
  std::vector<RecordedDraw> draws;
  std::vector<Event> events;
};

bool same_outcome(const Ended& a, const Ended& b) {
  return a.tokens == b.tokens && a.answer == b.answer;
}

Ended run_to_end(LanguageModel& model, Program program, double power, std::size_t particles,
                 std::uint64_t seed, std::size_t batch = 64, std::size_t cut = 1000) {
  RecordingLottery lottery;
  SmallRun small(model, particle_context, {power}, lottery, seed, batch);
  const Plan plan = particle_plan(particles);
  Cutter cutter(cut);
  Progress progress;
  try {
    small.finish(program(small.run, plan, progress, &cutter));
  } catch (const std::runtime_error&) {
    progress = std::move(cutter.kept);
    for (const auto& tokens : cutter.tokens)
      progress.replicas.push_back(small.scored(plan.stages[progress.stage].horizon, tokens));
    small.run.events.clear();
    small.finish(program(small.run, plan, progress, nullptr));
  }
  Ended ended{{}, progress.answer.value_or(plan.output), lottery.drawn(), cutter.events};
  for (const Record& record : progress.replicas) {
    ended.tokens.push_back(record.token_ids());
    CHECK(same_record(record, small.scored(9, record.token_ids())));
    CHECK(owns_its_cache(model, record));
  }
  return ended;
}

}  // namespace

TEST_CASE("particles have the same bits for any batch and wherever their run is cut") {
  const auto model = random_qwen3(small_config(), 5);
  std::size_t resampled = 0;
  for (const Program program :
       {Program(power_smc<PowerSmcRules>), Program(best_of_n<LikelihoodRules>)})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      CAPTURE(seed);
      const Ended whole = run_to_end(*model, program, 4.0, 5, seed);
      CHECK(whole.tokens.size() == 5);
      for (const Event& event : whole.events)
        resampled += event.kind == Event::Kind::resampling && event.accepted ? 1 : 0;
      for (const std::size_t batch : {1, 3})
        CHECK(same_outcome(run_to_end(*model, program, 4.0, 5, seed, batch), whole));
      for (const std::size_t cut : {1, 2, 3, 4, 5})
        CHECK(same_outcome(run_to_end(*model, program, 4.0, 5, seed, 64, cut), whole));
    }
  CHECK(resampled > 0);
}

// Naively: where no particle was resampled, the particles are those that were weighed, each by exp
// of the sum of its ζ since the last resampling. Tickets are off by half of one in 2^44 of the
// largest.
TEST_CASE("particles are weighed by what they drew since they were last resampled") {
  struct Weighed final : Observer {
    void round_ended(const Progress& progress, std::span<const Event> now) override {
      for (const Event& event : now) {
        if (event.kind != Event::Kind::resampling) continue;
        if (event.accepted) {
          since = progress.replicas.front().horizon();
          continue;
        }
        double sum = 0.0, squares = 0.0;
        for (const Record& particle : progress.replicas) {
          double log_weight = 0.0;
          for (std::size_t t = since + 1; t <= particle.length(); ++t)
            log_weight += particle.tokens().log_z(t)[0];
          sum += std::exp(log_weight);
          squares += std::exp(2.0 * log_weight);
        }
        CHECK(event.effective_sample_size == Approx(sum * sum / squares).epsilon(0).margin(1e-9));
        const double mean = sum / static_cast<double>(progress.replicas.size());
        CHECK(event.log_ratio == Approx(std::log(mean)).epsilon(0).margin(1e-9));
        if (since > 0) ++after_resampling;
      }
    }
    std::size_t since = 0, after_resampling = 0;
  };
  TableModel model = scattered_table(7, 9);
  std::size_t after_resampling = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    PhiloxLottery lottery;
    SmallRun small(model, particle_context, {3.0}, lottery, seed);
    Weighed weighed;
    Progress progress;
    small.finish(power_smc<PowerSmcRules>(small.run, particle_plan(6), progress, &weighed));
    after_resampling += weighed.after_resampling;
  }
  CHECK(after_resampling > 5);
}

TEST_CASE("no two decisions of a run of particles share an address") {
  TableModel model = scattered_table(7, 9);
  for (const Program program :
       {Program(power_smc<PowerSmcRules>), Program(best_of_n<LikelihoodRules>)}) {
    std::set<Purpose> purposes;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Ended ended = run_to_end(model, program, 6.0, 6, seed);
      std::set<std::array<std::uint32_t, 4>> counters;
      for (const RecordedDraw& one : ended.draws) {
        const Word word = counter_of(one.draw.address);
        CHECK(counters.insert({word.limb[0], word.limb[1], word.limb[2], word.limb[3]}).second);
        purposes.insert(one.draw.address.purpose);
      }
      CHECK(ended.draws.size() >= 6);
    }
    const bool is_smc = program == Program(power_smc<PowerSmcRules>);
    CHECK(purposes.count(Purpose::final_particle) == (is_smc ? 1 : 0));
    CHECK(purposes.count(Purpose::resample) == (is_smc ? 1 : 0));
  }
}

TEST_CASE("the answer of Best-of-N is the likeliest, the first of those that are tied") {
  TableModel model = scattered_table(5, 3);
  PhiloxLottery lottery;
  SmallRun small(model, particle_context, {1.0}, lottery);
  std::vector<Record> records;
  records.push_back(small.scored(6, {2, 3, 4}));
  records.push_back(small.scored(6, {2, 0}));
  records.push_back(small.scored(6, {3, 3, 4, 2}));
  records.push_back(small.scored(6, {2, 0}));
  std::size_t best = 0;
  for (std::size_t i = 1; i < 3; ++i)
    if (records[i].log_p0() > records[best].log_p0()) best = i;
  CHECK(likeliest_record(records) == best);
  std::reverse(records.begin(), records.end());
  // {2, 0} is there twice, at 0 and 2; else the place is mirrored.
  CHECK(likeliest_record(records) == (best == 1 ? 0 : 3 - best));
}

TEST_CASE("an uncoupled ladder is Algorithm 1 without its sweeps, draw by draw") {
  TableModel model = scattered_table(6, 4);
  const Plan plan{make_stages(6, 3, {2}, {1}, {2}), Schedule::deo, 1};
  Plan without = plan;
  for (Stage& stage : without.stages) stage.sweeps = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PhiloxLottery lottery;
    SmallRun small(model, particle_context, {1.0, 2.0, 4.0}, lottery, seed);
    Progress alone, likeliest, coldest;
    small.finish(parallel_power_tempering(small.run, without, alone, nullptr));
    small.finish(uncoupled_ladder<LikeliestRung>(small.run, plan, likeliest, nullptr));
    small.finish(uncoupled_ladder<ColdestRung>(small.run, plan, coldest, nullptr));
    for (Rung k = 0; k < 3; ++k) {
      CHECK(same_record(alone.replicas[k], likeliest.replicas[k]));
      CHECK(same_record(alone.replicas[k], coldest.replicas[k]));
    }
    CHECK(coldest.answer == 1U);
    CHECK(likeliest.answer == likeliest_record(alone.replicas));
  }
}

TEST_CASE("tokenwise sampling draws what the extension of one replica draws") {
  TableModel model = scattered_table(6, 4);
  PhiloxLottery lottery;
  SmallRun small(model, particle_context, {2.0}, lottery, 3);
  const Plan plan{make_stages(6, 3, {0}, {0}, {0})};
  Progress tokenwise, extended;
  small.finish(tokenwise_sampling(small.run, plan, tokenwise));
  small.finish(parallel_power_tempering(small.run, plan, extended, nullptr));
  CHECK(same_record(tokenwise.replicas.front(), extended.replicas.front()));
  CHECK(&answer_of(tokenwise, plan) == &tokenwise.replicas.front());
}

}  // namespace tempera::gpu::particles_test
