#pragma once

#include <cstddef>

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
/// @throw BadInput if the interval or N is 0, there are more than particle_state_limit states, or a
/// probability to the power is irrational
ParticleLaw power_smc_law(const FixedHorizonSpace& space, std::size_t interval, const Power& power,
                          std::size_t particles);

}  // namespace tempera::reference
