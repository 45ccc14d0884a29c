#pragma once

#include "gpu/core/sampler/particle_weights.hpp"
#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// The formulas on which PowerSMC's weights hang, each in one place, so that lab/ can replace one
/// line and show that its checks notice.
struct PowerSmcRules {
  /// log of Π_{t > resampled} p0(x_t | x_<t)^α / g_α(x_t | x_<t) = Σ ζ_t: the weight of a particle
  /// since it was last resampled. ζ_t is that of the tickets which were drawn with, so that the
  /// proposal that was used is the one that is scored. Positions after a terminal token count 0:
  /// each particle ends for itself.
  static double log_weight(const Record& x, std::size_t resampled) {
    return x.sum_log_z(resampled + 1, x.length(), 0);
  }
  /// ESS < N/2.
  static bool resamples(std::span<const std::uint64_t> weights) { return is_degenerate(weights); }
  /// Resampled particles begin at weight 1 again.
  static void reset_weights(Progress& progress, std::size_t horizon) {
    progress.resampled = horizon;
  }
};

/// The log weight of each particle since they were last resampled.
template <class Rules>
std::vector<double> log_weights_of(const Progress& progress) {
  std::vector<double> log_weights;
  for (const Record& particle : progress.replicas)
    log_weights.push_back(Rules::log_weight(particle, progress.resampled));
  return log_weights;
}

/// Draws the ancestors of all particles and puts copies of them in their places.
void resample_systematically(std::vector<Record>& particles, std::span<const std::uint64_t> weights,
                             Turn turn);

/// PowerSMC (sec:hyperparameter-configuration): N particles advance by tokens of g_α,
/// `eq:proposal`, weighed by p0^α / g_α. After every stage, the last included, if ESS < N/2 they
/// are resampled systematically and their weights reset; at the end one particle is drawn by the
/// final weights. The block width of the plan is the token interval between two looks at the
/// weights; its rounds play no part. Range: a ladder of one power, plan.particles >= 1.
///
/// The product of the mean weights at which the particles were resampled, and of the mean at the
/// end if they were not then, is an unbiased estimate of Z_α: each event has the log of its mean.
template <class Rules = PowerSmcRules>
Task power_smc(Chain& chain, const Plan& plan, Progress& progress, Observer* observer) {
  if (progress.replicas.empty())
    co_await initialize_records(chain, plan.particles, progress.replicas);
  for (; progress.stage < plan.stages.size(); end_stage(progress)) {
    if (progress.extended) continue;  // a run that is resumed has ended this stage
    const std::size_t horizon = plan.stages[progress.stage].horizon;
    co_await extend_all(chain, progress, horizon);
    const std::vector<double> log_weights = log_weights_of<Rules>(progress);
    const std::vector<std::uint64_t> weights = weight_tickets(log_weights);
    Turn turn(chain, 0, progress.stage, Purpose::extension_token);
    Event event{.kind = Event::Kind::resampling};
    event.effective_sample_size = effective_sample_size(weights);
    event.log_ratio = log_mean_weight(log_weights, weights);
    event.accepted = Rules::resamples(weights);
    if (event.accepted) {
      resample_systematically(progress.replicas, weights, turn);
      Rules::reset_weights(progress, horizon);
    }
    turn.note(event);
    progress.extended = true;
    report(chain, progress, observer);
  }
  progress.answer =
      Turn(chain, 0, plan.stages.size(), Purpose::extension_token)
          .choose(weight_tickets(log_weights_of<Rules>(progress)), Purpose::final_particle);
}

/// The paper's rules are compiled once, in power_smc.cpp: what lab/ enumerates is what runs.
extern template Task power_smc<PowerSmcRules>(Chain& chain, const Plan& plan, Progress& progress,
                                              Observer* observer);

}  // namespace tempera::gpu
