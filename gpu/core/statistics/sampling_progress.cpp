#include "gpu/core/statistics/sampling_progress.hpp"

#include <cstdio>

namespace tempera::gpu {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double share_done(const Plan& plan, const Position& position) {
  if (plan.until_kept) {  // nobody knows how many proposals are to come
    if (plan.most_tokens == 0) return 0.0;
    return static_cast<double>(position.drawn) / static_cast<double>(plan.most_tokens);
  }
  double work = 0.0;
  double done = 0.0;
  for (std::size_t m = 0; m < plan.stages.size(); ++m) {
    const Stage& stage = plan.stages[m];
    const auto horizon = static_cast<double>(stage.horizon);
    work += static_cast<double>(stage.rounds + 1) * horizon;
    if (m < position.stage)
      done += static_cast<double>(stage.rounds + 1) * horizon;
    else if (m == position.stage)
      done += static_cast<double>(position.round + (position.extended ? 1 : 0)) * horizon;
  }
  return done / work;
}

SamplingProgress sampling_progress(double done, std::uint64_t decode_tokens,
                                   const TemperingStatistics& statistics) {
  std::uint64_t proposed = 0;
  std::uint64_t accepted = 0;
  for (const RungCounts& rung : statistics.rungs()) {
    proposed += rung.proposed;
    accepted += rung.accepted;
  }
  std::uint64_t attempts = 0;
  std::uint64_t swapped = 0;
  for (const EdgeCounts& edge : statistics.edges()) {
    attempts += edge.attempts;
    swapped += edge.accepted;
  }
  return {done, decode_tokens, share(accepted, proposed), share(swapped, attempts)};
}

std::optional<double> seconds_left(double done, double seconds) {
  if (seconds < 3.0 || done < 0.05) return std::nullopt;
  return seconds * (1.0 - done) / done;
}

std::string to_line(const SamplingProgress& progress, double seconds) {
  const double speed = seconds > 0.0 ? static_cast<double>(progress.decode_tokens) / seconds : 0.0;
  const auto left = seconds_left(progress.done, seconds);
  char estimate[32] = "";
  if (left) std::snprintf(estimate, sizeof estimate, "%.0f s left  ", *left);
  char text[160];
  std::snprintf(
      text, sizeof text, "%3.0f %%  %s%llu tokens, %.0f tokens/s  accepted: moves %.2f, swaps %.2f",
      100.0 * progress.done, estimate, static_cast<unsigned long long>(progress.decode_tokens),
      speed, progress.acceptance, progress.swap_acceptance);
  return text;
}

bool ReportClock::due() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return false;
  last_ = now;
  return true;
}

}  // namespace tempera::gpu
