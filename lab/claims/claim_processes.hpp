#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "lab/claims/claim_runner.hpp"

namespace tempera::lab {

/// Decides claims in several processes at once, and hands each result to `decided`, in the order of
/// the claims. `begins` is told the next claim whose result is awaited. A process has a copy of
/// this one's memory, so no check sees what another one changes. What the processes leave undecided
/// is decided here, after them; so what a check throws is thrown here. With one process all is.
/// @pre processes >= 1
void decide_claims(const ClaimRunner& runner, const std::vector<Claim>& claims,
                   std::size_t processes, const std::function<void(const Claim&)>& begins,
                   const std::function<void(ClaimResult)>& decided);

}  // namespace tempera::lab
