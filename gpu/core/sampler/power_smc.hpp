#pragma once

#include <algorithm>

#include "gpu/core/sampler/particle_weights.hpp"
#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// Where particles are on their way up the ladder. A stage draws and weighs at the power of its own
/// rung: the ladder's rungs in turn, one for each stage, and the last for all further stages. The
/// last stage is at the last rung however few there are.
struct Ramp {
  const Plan& plan;
  const Ladder& ladder;
  std::size_t stage = 0;      ///< whose end it is
  std::size_t resampled = 0;  ///< the horizon at which the particles were last resampled

  Rung rung_of(std::size_t m) const {
    const Rung last = ladder.rungs() - 1;
    return m + 1 == plan.stages.size() ? last : std::min<Rung>(m, last);
  }
  double power_of(std::size_t m) const { return ladder.power(rung_of(m)); }
};

/// The formulas on which PowerSMC's weights hang, each in one place, so that lab/ can replace one
/// line and show that its checks notice.
struct PowerSmcRules {
  /// The log of a particle's weight since it was last resampled: for each token after that ζ_t, the
  /// log of p0^α / g_α at the power α of its stage, and for every token ℓ_t times what the power
  /// has risen by since, of an ended record too. ζ_t is that of the tickets which were drawn with,
  /// so that the proposal that was used is the one that is scored. Without a rise this is Σ ζ_t.
  /// Positions after a terminal token count 0: each particle ends for itself.
  static double log_weight(const Record& x, const Ramp& ramp) {
    const ScoredSequence& tokens = x.tokens();
    const double power = ramp.power_of(ramp.stage);
    double resampled_at = power;
    for (std::size_t m = 0; m < ramp.stage; ++m)
      if (ramp.plan.stages[m].horizon == ramp.resampled) resampled_at = ramp.power_of(m);
    double sum = 0.0;
    std::size_t t = 1;
    for (std::size_t m = 0; m <= ramp.stage; ++m)
      for (; t <= std::min(ramp.plan.stages[m].horizon, x.length()); ++t) {
        const bool is_fresh = t > ramp.resampled;
        const double rise = power - (is_fresh ? ramp.power_of(m) : resampled_at);
        if (rise != 0.0) sum += rise * tokens.log_p(t);
        if (is_fresh) sum += tokens.log_z(t)[ramp.rung_of(m)];
      }
    return sum;
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
std::vector<double> log_weights_of(const Progress& progress, const Ramp& ramp) {
  std::vector<double> log_weights;
  for (const Record& particle : progress.replicas)
    log_weights.push_back(Rules::log_weight(particle, ramp));
  return log_weights;
}

/// Step 1 of Algorithm 1 for all particles, at the power of this rung.
Task extend_particles(Chain& chain, Progress& progress, std::size_t horizon, Rung rung);
/// Draws the ancestors of all particles and puts copies of them in their places.
void resample_systematically(std::vector<Record>& particles, std::span<const std::uint64_t> weights,
                             Turn turn);

/// PowerSMC (sec:hyperparameter-configuration): N particles advance by tokens of g_α,
/// `eq:proposal`, weighed by p0^α / g_α. After every stage, the last included, if ESS < N/2 they
/// are resampled systematically and their weights reset; at the end one particle is drawn by the
/// final weights. The block width of the plan is the token interval between two looks at the
/// weights; its rounds play no part. Range: plan.particles >= 1.
///
/// On a ladder the power rises from one interval to the next: each draws by g_α and weighs by p0^α
/// at its own power (Ramp). The weights have p0^α at the last power for all records in the end.
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
    const Ramp ramp{plan, chain.ladder, progress.stage, progress.resampled};
    co_await extend_particles(chain, progress, horizon, ramp.rung_of(progress.stage));
    const std::vector<double> log_weights = log_weights_of<Rules>(progress, ramp);
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
  const Ramp ramp{plan, chain.ladder, plan.stages.size() - 1, progress.resampled};
  progress.answer =
      Turn(chain, 0, plan.stages.size(), Purpose::extension_token)
          .choose(weight_tickets(log_weights_of<Rules>(progress, ramp)), Purpose::final_particle);
}

/// The paper's rules are compiled once, in power_smc.cpp: what lab/ enumerates is what runs.
extern template Task power_smc<PowerSmcRules>(Chain& chain, const Plan& plan, Progress& progress,
                                              Observer* observer);

}  // namespace tempera::gpu
