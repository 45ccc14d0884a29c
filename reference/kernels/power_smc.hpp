#pragma once

#include <cstddef>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// The most states of all particles that are carried at once.
inline constexpr std::size_t particle_state_limit = 200'000;

/// What PowerSMC does, exactly.
struct ParticleLaw {
  Law answer;       ///< on S_T
  Rational tokens;  ///< expected decode tokens of all particles
};

/// PowerSMC with N particles (sec:hyperparameter-configuration): from N empty records, each open
/// particle advances token by token by g_α, its weight multiplied by p0^α / g_α; whenever
/// `interval` more tokens, or the horizon, are reached, if ESS = (Σ w)² / Σ w² < N/2 the
/// particles are resampled systematically and all weights set to 1; at the end one particle is
/// drawn in proportion to the weights.
/// ramp: the powers, rising from one interval to the next, the last for all further ones and for
/// the last interval however few there are. When it rises from α to β, the weight of every
/// particle, ended or not, is multiplied by p0^β / p0^α of its record.
/// @throw BadInput if the interval or N is 0, there is no power, there are more than
/// particle_state_limit states, or a probability to the power is irrational
ParticleLaw power_smc_law(const FixedHorizonSpace& space, std::size_t interval,
                          const std::vector<Power>& ramp, std::size_t particles);
/// The same without a rise.
inline ParticleLaw power_smc_law(const FixedHorizonSpace& space, std::size_t interval,
                                 const Power& power, std::size_t particles) {
  return power_smc_law(space, interval, std::vector<Power>{power}, particles);
}

}  // namespace tempera::reference
