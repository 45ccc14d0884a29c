// Estimates of a run by a pilot, against the tokens that it has seen and those that the plans
// allow.
#include "runs/run_estimate.hpp"

#include <algorithm>

#include "gpu/session/cache_admission.hpp"
#include "gpu/session/cost.hpp"
#include "tests/between.hpp"
#include "tests/gpu/session/sampling_runs.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::run_estimate_test {
namespace {

/// Random steps of an answer, some more uneven than others, until it ends or its pilot does.
SeenAnswer drawn_answer(const Plan& plan, std::size_t replicas) {
  SeenAnswer answer;
  std::size_t before = 0;
  const auto some = [](std::size_t most) {
    return static_cast<double>(between<int>(0, 3) == 0 ? most : between<std::size_t>(0, most / 8));
  };
  for (const Stage& stage : plan.stages) {
    SeenAnswer::Steps& steps = answer.stages.emplace_back();
    steps.extension = some(replicas * (stage.horizon - before));
    before = stage.horizon;
    const std::size_t rounds = between<std::size_t>(0, stage.rounds);
    for (std::size_t i = 0; i < rounds; ++i)
      steps.rounds.push_back(some(replicas * stage.local_moves * stage.horizon));
    if (rounds < stage.rounds) return answer;
  }
  answer.has_ended = true;
  return answer;
}

}  // namespace

TEST_CASE(
    "an estimate is between what was drawn and what may be, and its caches are those of its "
    "answers") {
  law("any pilot", [] {
    SamplingSettings settings = small_settings();
    settings.rounds = {between<std::size_t>(1, 4), between<std::size_t>(0, 3)};
    const DrawSettings draw = settings.draw_settings();
    const std::size_t replicas = draw.plan.replicas(draw.ladder);
    TableModel model = scattered_table(11, 5);
    PilotedRun run{between<std::size_t>(1, 12),
                   draw,
                   [&](std::size_t) -> const Plan& { return draw.plan; },
                   {},
                   between<std::size_t>(1, 12),
                   between<std::size_t>(0, 1) * between<std::size_t>(1, 2000)};
    for (std::size_t i = between<std::size_t>(1, 3); i > 0; --i)
      run.prompt_lengths.push_back(between<std::size_t>(1, 40));
    PilotTally tally;
    double seen = 0.0;
    for (std::size_t i = between<std::size_t>(1, run.answers); i > 0; --i) {
      tally.order.push_back(i - 1);
      seen += (tally.answers[i - 1] = drawn_answer(draw.plan, replicas)).tokens();
    }
    tally.drawn = static_cast<std::uint64_t>(seen) + between<std::uint64_t>(1, 50);
    tally.is_cut = true;
    tally.seconds = 1.0;
    tally.speed = 100.0;
    const RunEstimate found = estimate_of(tally, run, model);
    const Expectation& tokens = found.decode_tokens;
    RC_ASSERT(seen <= tokens.low);
    RC_ASSERT(tokens.low <= tokens.expected);
    RC_ASSERT(tokens.expected <= tokens.high);
    RC_ASSERT(tokens.high <=
              std::max(seen, static_cast<double>(run.answers) * cost_of(draw.plan, replicas)));
    std::size_t needed = 0;
    for (const std::size_t length : run.prompt_lengths)
      needed = std::max(
          needed,
          model.cache_bytes(length) +
              cache_bytes_of_rows(model, length, draw.plan.stages.back().horizon, 2 * replicas));
    std::size_t most = needed * std::min(run.answers, run.under_way);
    if (run.cache_memory > 0) most = std::min(most, run.cache_memory);
    RC_ASSERT(found.cache_bytes.low <= found.cache_bytes.expected);
    RC_ASSERT(found.cache_bytes.expected <= found.cache_bytes.high);
    RC_ASSERT(found.cache_bytes.high ==
              std::max(static_cast<double>(model.most_cache_bytes()), static_cast<double>(most)));
  });
}

}  // namespace tempera::gpu::run_estimate_test
