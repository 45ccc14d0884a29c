#include "runs/ladders/swap_schedule.hpp"

#include "base/error.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/session/prompt_plans.hpp"

namespace tempera::gpu {
namespace {

/// Counts the swaps of the last stage.
class SwapCounts final : public DrawListener {
 public:
  SwapCounts(const DrawSettings& settings, std::span<const Prompt> prompts)
      : prompts_(prompts),
        plans_(settings.plan, prompts),
        samples_(settings.samples),
        edges_(settings.ladder.rungs() - 1) {}
  void round_ended(RequestId run_index, std::size_t, const Progress& progress,
                   std::span<const Event> events) override {
    if (progress.stage + 1 != plans_.of(prompts_[run_index / samples_]).stages.size()) return;
    for (const Event& event : events) {
      if (event.kind != Event::Kind::swap) continue;
      ++edges_[event.rung].attempts;
      if (event.accepted) ++edges_[event.rung].accepted;
    }
  }
  const std::vector<EdgeCounts>& edges() const { return edges_; }

 private:
  std::span<const Prompt> prompts_;
  PromptPlans plans_;
  std::size_t samples_;
  std::vector<EdgeCounts> edges_;
};

}  // namespace

std::optional<double> MeasuredSchedule::round_trips_per_second(Schedule schedule) const {
  const auto iterations = expected_round_trip(edges, schedule);
  if (!iterations || seconds <= 0.0) return std::nullopt;
  return 1.0 / (*iterations * seconds);
}

Schedule ScheduleChoice::recommended() const {
  const auto by_order = adj.round_trips_per_second(Schedule::adj);
  const auto by_parity = deo.round_trips_per_second(Schedule::deo);
  return by_order && by_parity && *by_parity > *by_order ? Schedule::deo : Schedule::adj;
}

ScheduleChoice measure_schedules(LanguageModel& model, std::span<const Prompt> prompts,
                                 const CalibrationSettings& settings,
                                 const std::vector<double>& powers, std::size_t pilots) {
  if (pilots + 2 > addressable_pilots)
    throw BadInput("pilots", "leave no address for two more",
                   "give at most " + std::to_string(addressable_pilots - 2));
  std::size_t iterations = 0;
  const PromptPlans plans(settings.plan, prompts);
  for (const Prompt& prompt : prompts)
    for (const Stage& stage : plans.of(prompt).stages)
      iterations += stage.rounds * stage.sweeps * settings.samples;
  ScheduleChoice choice;
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    DrawSettings draw = pilot_settings(settings, powers, ++pilots);
    draw.plan.schedule = schedule;
    SwapCounts counts(draw, prompts);
    MeasuredSchedule& measured = schedule == Schedule::adj ? choice.adj : choice.deo;
    {
      const Stopwatch watch(measured.seconds);
      draw_answers(model, prompts, parallel_power_tempering, draw, counts);
    }
    measured.seconds /= static_cast<double>(iterations);
    measured.edges = counts.edges();
  }
  return choice;
}

}  // namespace tempera::gpu
