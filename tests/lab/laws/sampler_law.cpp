#include "lab/laws/sampler_law.hpp"

#include "gpu/core/sampler/best_of_n.hpp"
#include "gpu/core/sampler/power_smc.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "gpu/core/sampler/uncoupled_ladder.hpp"
#include "lab/enumerate/own_model.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "lab/laws/program_law.hpp"
#include "reference/kernels/likeliest_record.hpp"
#include "reference/kernels/power_smc.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::sampler_law_test {

using namespace tempera;

namespace {

using lab::DefinedSampler;
using lab::Rational;
using reference::FixedHorizonSpace;
using reference::Law;
using reference::Power;

Power power_of(unsigned power) { return Power(Rational(power)); }

lab::Definition tokenwise(unsigned power) {
  return [=](const FixedHorizonSpace& space) {
    const Law law = reference::tokenwise_law(space, power_of(power));
    return DefinedSampler{law, reference::expected_length(space, law)};
  };
}

lab::Definition best_of(std::size_t n, unsigned power) {
  return [=](const FixedHorizonSpace& space) {
    const Law one = reference::tokenwise_law(space, power_of(power));
    return DefinedSampler{reference::likeliest_record_law(space, std::vector<Law>(n, one)),
                          Rational(n) * reference::expected_length(space, one)};
  };
}

lab::Definition particles(std::size_t n, std::size_t interval, unsigned power) {
  return [=](const FixedHorizonSpace& space) {
    const auto exact = reference::power_smc_law(space, interval, power_of(power), n);
    return DefinedSampler{exact.answer, exact.tokens};
  };
}

/// The plan of samplers whose rounds play no part.
gpu::Plan plan_of(std::size_t horizon, std::size_t block, std::size_t particles) {
  gpu::Plan plan{gpu::make_stages(horizon, block, {0}, {0}, {0})};
  plan.particles = particles;
  return plan;
}

/// Whether a law that was walked is the one that is defined.
bool holds(const lab::SamplerReport& report, const lab::Real& bound) {
  return report.tv_own < bound && report.tokens_own < bound && report.tv_to_definition < 1e-6 &&
         report.stale_records == 0;
}

void check(const lab::SamplerReport& report, const lab::Real& bound = lab::sampler_bound) {
  CHECK(report.tv_own < bound);
  CHECK(report.tokens_own < bound);
  CHECK(report.tv_to_definition < 1e-6);
  CHECK(report.stale_records == 0);
  CHECK(report.outcomes > 1);
}

struct Case {
  std::string model;
  std::size_t horizon, block;
  unsigned power;
};

// Stages of unequal width; several terminal tokens; zero probabilities; ties.
const std::vector<Case> cases{{"unequal_lengths", 4, 3, 3},
                              {"several_terminals", 3, 2, 2},
                              {"zero_probabilities", 3, 2, 3},
                              {"ties", 3, 1, 3},
                              {"four_state", 3, 2, 2}};

}  // namespace

TEST_CASE("standard and low-temperature sampling have the laws of their tokens") {
  for (const Case& one : cases)
    for (const unsigned power : {1U, one.power}) {
      CAPTURE(one.model, power);
      const lab::SamplerQuestion question{
          gpu::tokenwise_sampling, {power}, plan_of(one.horizon, one.block, 0)};
      check(lab::sampler_law(question, shipped(one.model), tokenwise(power)));
    }
}

TEST_CASE(
    "a sampler's distances are those of its answers from two laws, of rationals and of logits") {
  // Written out: 2/3, 1/5 and their like are no float32 logits, so that the two laws differ, and
  // the distance that includes this rounding is far above the program's own.
  for (const char* name : {"unequal_lengths", "several_terminals", "zero_probabilities"}) {
    CAPTURE(name);
    const auto model = shipped(name);
    const FixedHorizonSpace space(model, 3);
    const lab::SamplerQuestion question{gpu::tokenwise_sampling, {1}, plan_of(3, 2, 0)};
    const auto report = lab::sampler_law(question, model, tokenwise(1));
    REQUIRE(report.answer.size() == space.size());
    Rational twice = 0;
    for (std::size_t x = 0; x < space.size(); ++x) {
      Rational likelihood = 1;
      std::vector<reference::Token> prefix;
      for (const auto token : space[x].tokens) {
        likelihood *= model.token_row(prefix)[token];
        prefix.push_back(token);
      }
      CHECK(report.defined[x] == likelihood);
      const Rational difference = report.answer[x] - likelihood;
      twice += difference < 0 ? -difference : difference;
    }
    CHECK(report.tv_to_definition == lab::to_real(twice / 2));
    CHECK(report.tv_to_definition > 100 * report.tv_own);
  }
}

TEST_CASE("Best-of-N is the first of the likeliest of N records") {
  for (const Case& one : cases)
    for (const std::size_t n : {1, 3}) {
      CAPTURE(one.model, n);
      const lab::SamplerQuestion question{
          gpu::best_of_n<gpu::LikelihoodRules>, {1}, plan_of(one.horizon, one.block, n)};
      check(lab::sampler_law(question, shipped(one.model), best_of(n, 1)));
    }
}

TEST_CASE("PowerSMC of one to three particles has the law of its definition") {
  for (const Case& one : cases)
    for (const std::size_t n : {1, 2, 3}) {
      CAPTURE(one.model, n);
      const lab::SamplerQuestion question{
          gpu::power_smc<gpu::PowerSmcRules>, {one.power}, plan_of(one.horizon, one.block, n)};
      check(lab::sampler_law(question, shipped(one.model), particles(n, one.block, one.power)));
    }
}

TEST_CASE("PowerSMC of four particles, looked at after each of three tokens, has its law") {
  const lab::SamplerQuestion question{gpu::power_smc<gpu::PowerSmcRules>, {4}, plan_of(3, 1, 4)};
  check(lab::sampler_law(question, shipped("geometric_length"), particles(4, 1, 4)));
}

namespace {

const std::vector<reference::StageSchedule> two_stages{{1, 2, 0}, {2, 1, 0}};

lab::SamplerReport uncoupled(lab::Program program, const std::string& model,
                             const std::vector<unsigned>& powers, gpu::Rung output,
                             bool by_likelihood) {
  // Sweeps that the plan asks for must not take place.
  const gpu::Plan plan{gpu::make_stages(3, 2, {1, 2}, {2, 1}, {3, 2}), gpu::Schedule::adj, output};
  // Each chain by itself, with a ladder of its own.
  const auto definition = [&](const FixedHorizonSpace& space) {
    std::vector<Law> laws;
    Rational tokens = 0;
    for (const unsigned power : powers) {
      const auto chain = reference::progressive_run(
          space.model(), 3, 2, reference::Ladder({power_of(power)}), two_stages);
      laws.push_back(chain.law);
      tokens += chain.decode_tokens;
    }
    return DefinedSampler{
        by_likelihood ? reference::likeliest_record_law(space, laws) : laws[output], tokens};
  };
  return lab::sampler_law({program, {powers.begin(), powers.end()}, plan}, shipped(model),
                          definition);
}

}  // namespace

TEST_CASE("the uncoupled ladder gives its coldest rung, or its likeliest record") {
  const auto [model, powers] = GENERATE(table<std::string, std::vector<unsigned>>(
      {{"zero_probabilities", {1, 3}}, {"geometric_length", {1, 2, 4}}}));
  for (const gpu::Rung output : {powers.size() - 1, powers.size() - 2}) {
    CAPTURE(model, output);
    const auto report =
        uncoupled(gpu::uncoupled_ladder<gpu::ColdestRung>, model, powers, output, false);
    check(report, lab::program_bound);
  }
  check(uncoupled(gpu::uncoupled_ladder<gpu::LikeliestRung>, model, powers, 0, true),
        lab::program_bound);
}

TEST_CASE(
    "the decode tokens of Algorithm 1 and of the truncating sampler are those of the program") {
  const gpu::Plan plan{gpu::make_stages(3, 2, {1, 2}, {2, 1}, {1, 2}), gpu::Schedule::deo, 1};
  const std::vector<reference::StageSchedule> stages{{1, 2, 1}, {2, 1, 2}};
  const auto algorithm_1 = [&](const FixedHorizonSpace& space) {
    const auto run = reference::progressive_run(space.model(), 3, 2,
                                                reference::Ladder({power_of(1), power_of(3)}),
                                                stages, reference::Schedule::deo);
    return DefinedSampler{reference::marginal(run.law, reference::Shape(2, space.size()), 1),
                          run.decode_tokens};
  };
  const auto model = shipped("zero_probabilities");
  check(lab::sampler_law({gpu::parallel_power_tempering, {1, 3}, plan}, model, algorithm_1),
        lab::program_bound);
  // The truncating sampler's answers need not be in S_T: its tokens alone.
  const gpu::Plan one{gpu::make_stages(3, 1, {1, 2, 1}, {2, 1, 1}, {0})};
  const auto truncating = shipped("unequal_lengths");
  const lab::FiniteLogits logits(truncating);
  const auto walked = lab::walk_program(gpu::truncating_power_sampling, logits.enumerable(),
                                        gpu::Ladder({2.0}), one);
  const auto run =
      reference::truncating_progressive_run(lab::own_model(logits.enumerable(), 3, "own"), 3, 1,
                                            power_of(2), {{1, 2, 0}, {2, 1, 0}, {1, 1, 0}});
  CHECK(abs(lab::to_real(walked.decode_tokens - run.decode_tokens)) < lab::program_bound);
  CHECK(run.decode_tokens > 2);
}

// Planted defects: each is one line of the rules, and each changes the law by far more than 1e-6.
namespace {

struct KeptWeights : gpu::PowerSmcRules {
  static void reset_weights(gpu::Progress&, std::size_t) {}
};
struct ReversedThreshold : gpu::PowerSmcRules {
  static bool resamples(std::span<const std::uint64_t> weights) {
    return !gpu::is_degenerate(weights);
  }
};
/// Weighs by p0^α as though the proposal had been uniform.
struct UnscoredProposal : gpu::PowerSmcRules {
  static double log_weight(const gpu::Record& x, const gpu::Ramp& ramp) {
    double sum = 0.0;
    for (std::size_t t = ramp.resampled + 1; t <= x.length(); ++t) sum += 4.0 * x.tokens().log_p(t);
    return sum;
  }
};
/// Resamples at an ESS below N.
struct AlwaysResamples : gpu::PowerSmcRules {
  static bool resamples(std::span<const std::uint64_t>) { return true; }
};
struct MeanLikelihood : gpu::LikelihoodRules {
  static double score(const gpu::Record& x) { return x.log_p0() / static_cast<double>(x.length()); }
};
struct LastToken : gpu::LikelihoodRules {
  static double score(const gpu::Record& x) { return x.tokens().log_p(x.length()); }
};
struct HottestRung {
  static std::size_t answer(const gpu::Progress&, const gpu::Plan&) { return 0; }
};

/// A model whose rows differ in their normalisers again and again, so that particles are resampled
/// early and weighed anew.
reference::FiniteModel forked() {
  const auto q = [](int a, int b) { return Rational(a) / Rational(b); };
  return {{"forked",
           {{"a", "b", "c", "e"}, "test"},
           {3},
           {{{}, {q(1, 2), q(1, 2), q(0, 1), q(0, 1)}},
            {{0}, {q(3, 5), q(0, 1), q(0, 1), q(2, 5)}},
            {{1}, {q(1, 4), q(1, 4), q(1, 4), q(1, 4)}},
            {{0, 0}, {q(9, 10), q(0, 1), q(0, 1), q(1, 10)}}},
           reference::TokenRow{q(1, 3), q(1, 3), q(0, 1), q(1, 3)}},
          "test"};
}

lab::SamplerReport weighed(lab::Program program) {
  return lab::sampler_law({program, {4}, plan_of(3, 1, 3)}, forked(), particles(3, 1, 4));
}

lab::SamplerReport chosen(lab::Program program) {
  return lab::sampler_law({program, {1}, plan_of(3, 2, 3)}, shipped("several_terminals"),
                          best_of(3, 1));
}

}  // namespace

/// Leaves the records that have ended at the power at which they ended.
struct EndedAreNotRaised : gpu::PowerSmcRules {
  static double log_weight(const gpu::Record& x, const gpu::Ramp& ramp) {
    gpu::Ramp at = ramp;
    while (at.stage > 0 && x.terminated() && x.length() <= at.plan.stages[at.stage - 1].horizon)
      --at.stage;
    return PowerSmcRules::log_weight(x, at);
  }
};
/// Forgets the rise of the tokens that were drawn before.
struct FreshTokensAlone : gpu::PowerSmcRules {
  static double log_weight(const gpu::Record& x, const gpu::Ramp& ramp) {
    double sum = 0.0;
    std::size_t t = 1;
    for (std::size_t m = 0; m <= ramp.stage; ++m)
      for (; t <= std::min(ramp.plan.stages[m].horizon, x.length()); ++t)
        if (t > ramp.resampled) sum += x.tokens().log_z(t)[ramp.rung_of(m)];
    return sum;
  }
};
/// Resampled particles rise as if their weights had not been reset.
struct RiseFromTheStart : gpu::PowerSmcRules {
  static double log_weight(const gpu::Record& x, const gpu::Ramp& ramp) {
    double sum = PowerSmcRules::log_weight(x, ramp);
    for (std::size_t t = 1; t <= std::min(ramp.resampled, x.length()); ++t)
      sum += x.tokens().log_p(t);
    return sum;
  }
};

TEST_CASE("a ramp has the law of its definition, with the whole weight for short answers") {
  const auto law_of = [](lab::Program program, std::vector<Rational> powers, std::size_t horizon,
                         std::size_t particles, const std::string& model) {
    lab::NamedRun run{"ramped-smc", horizon, 1, std::move(powers), particles, {0, 0, 0}};
    return lab::named_sampler_law(run, shipped(model), program);
  };
  const lab::Program ramped = gpu::power_smc<gpu::PowerSmcRules>;
  for (const auto& [model, horizon, particles] : {std::tuple{"unequal_lengths", 2, 3},
                                                  {"unequal_lengths", 3, 2},
                                                  {"four_state", 3, 3},
                                                  {"bimodal", 3, 3}}) {
    CAPTURE(model, horizon, particles);
    CHECK(holds(law_of(ramped, {1, 2, 4}, horizon, particles, model), lab::sampler_bound));
  }
  const auto differs = [&](lab::Program defect, unsigned power, const std::string& model) {
    const auto report = law_of(defect, {1, power}, 3, 3, model);
    CHECK(report.tv_own > 1e-4);
    CHECK_FALSE(holds(report, lab::sampler_bound));
  };
  // One of its answers has a token alone, and ends at the first power.
  differs(gpu::power_smc<EndedAreNotRaised>, 2, "unequal_lengths");
  differs(gpu::power_smc<FreshTokensAlone>, 8, "bimodal");
  differs(gpu::power_smc<RiseFromTheStart>, 8, "bimodal");
}

TEST_CASE("a PowerSMC whose weights or threshold are wrong has another law") {
  CHECK(holds(weighed(gpu::power_smc<gpu::PowerSmcRules>), lab::sampler_bound));
  for (const lab::Program defect :
       {gpu::power_smc<KeptWeights>, gpu::power_smc<ReversedThreshold>,
        gpu::power_smc<UnscoredProposal>, gpu::power_smc<AlwaysResamples>}) {
    const lab::SamplerReport report = weighed(defect);
    CHECK(report.tv_own > 1e-4);
    CHECK_FALSE(holds(report, lab::sampler_bound));
  }
}

TEST_CASE("a Best-of-N by another likelihood has another law") {
  CHECK(holds(chosen(gpu::best_of_n<gpu::LikelihoodRules>), lab::sampler_bound));
  for (const lab::Program defect : {gpu::best_of_n<MeanLikelihood>, gpu::best_of_n<LastToken>}) {
    const lab::SamplerReport report = chosen(defect);
    CHECK(report.tv_own > 1e-4);
    CHECK_FALSE(holds(report, lab::sampler_bound));
  }
}

TEST_CASE("an uncoupled ladder that gives another rung, or swaps, has another law") {
  const std::vector<unsigned> powers{1, 3};
  const auto wrong = [&](lab::Program program, bool by_likelihood) {
    const auto report = uncoupled(program, "zero_probabilities", powers, 1, by_likelihood);
    CHECK(report.tv_own > 1e-4);
  };
  wrong(gpu::uncoupled_ladder<HottestRung>, false);
  wrong(gpu::uncoupled_ladder<HottestRung>, true);
  wrong(gpu::uncoupled_ladder<gpu::LikeliestRung>, false);
  wrong(gpu::uncoupled_ladder<gpu::ColdestRung>, true);
  wrong(gpu::parallel_power_tempering, false);
}

TEST_CASE("merged by states, PowerSMC and Best-of-N have the law of every path") {
  const lab::FiniteLogits logits(shipped("geometric_length"));
  const gpu::Ladder ladder({4.0});
  for (const lab::Program program :
       {gpu::power_smc<gpu::PowerSmcRules>, gpu::best_of_n<gpu::LikelihoodRules>}) {
    const gpu::Plan plan = plan_of(2, 1, 3);
    const auto paths = lab::walk_every_path(program, logits.enumerable(), ladder, plan);
    for (const lab::Cuts cuts : {lab::Cuts::none, lab::Cuts::at_every_round}) {
      const auto walked = lab::walk_program(program, logits.enumerable(), ladder, plan, cuts);
      CHECK(walked.law == paths.law);
      CHECK(walked.decode_tokens == paths.decode_tokens);
    }
    CHECK(paths.decode_tokens > 0);
  }
}

}  // namespace tempera::sampler_law_test
