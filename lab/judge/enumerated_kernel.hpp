#pragma once

#include <functional>

#include "gpu/lottery/lottery.hpp"
#include "lab/judge/judged_case.hpp"

namespace tempera::lab {

/// A kernel in C++: one step from a state, every decision drawn through the lottery. It must be a
/// function of the state and its draws.
using KernelStep = std::function<JudgedState(const JudgedCase&, const JudgedState&, gpu::Lottery&)>;

/// Its rows, every decision taken: what judge_kernel and shrink take.
/// The rows throw NotEnumerable if the step is no function of the state and its draws.
JudgedKernel enumerated(KernelStep step);

/// Draws through the lottery from any weights that are rational, at least 0 and not all 0.
/// @throw Bug if they have no common denominator of 64 bits
std::size_t draw_from(gpu::Lottery& lottery, const std::vector<reference::Rational>& weights);
/// Whether an event of this probability happens. Range: [0, 1].
bool happens(gpu::Lottery& lottery, const reference::Rational& probability);

}  // namespace tempera::lab
