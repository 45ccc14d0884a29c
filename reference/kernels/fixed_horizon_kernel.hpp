#pragma once

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// L_{k,r}: regenerate from position r through the horizon, accept by Metropolis-Hastings on S_T,
/// whose padding lets a terminated record grow again (rem:fixed-hor).
/// |S_T| x |S_T|; r in 1..T.
Matrix fixed_horizon_kernel_at(const FixedHorizonSpace& space, const Power& power, std::size_t r);

/// L_k = Σ_r ω(r) L_{k,r}, |S_T| x |S_T|. The restart law is over 1..T.
Matrix fixed_horizon_kernel(const FixedHorizonSpace& space, const Power& power,
                            const RestartLaw& restart);

}  // namespace tempera::reference
