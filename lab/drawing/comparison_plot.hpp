#pragma once

#include <span>
#include <string>

#include "lab/contest/exact_comparison.hpp"
#include "lab/drawing/picture.hpp"

namespace tempera::lab {

/// TV to the target against expected decode tokens, both on logarithmic axes, a curve for each
/// sampler of one comparison; a dotted line at the tokens of ppt, where the table compares. A
/// distance of 0 is at the foot. Range: a comparison with curves.
std::string comparison_panel(const ExactComparison& comparison, const gpu::Inks& inks);

/// Line and mark of the k-th sampler of a comparison, as a small picture.
std::string sampler_sign(const std::string& sampler, std::size_t k, const gpu::Inks& inks);

/// The panels of all comparisons in one picture with the samplers' names below, dark if the
/// reader's system is. Range: at least one comparison, each with the same curves.
std::string comparison_plot(std::span<const ExactComparison> comparisons);

}  // namespace tempera::lab
