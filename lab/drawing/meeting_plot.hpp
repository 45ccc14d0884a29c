#pragma once

#include <string>

#include "runs/coupling/certificate.hpp"

namespace tempera::gpu {

/// An SVG picture of the pairs of a certificate, by rounds t of Y: the share of pairs that are
/// still apart, P(τ − L > t), and beneath it the bound of the total variation after t
/// rounds with its limit, which are left out if a pair has not met. A dotted line is at the rounds
/// of the run that is judged.
/// @pre found.knows_meetings()
std::string meeting_plot(const Certificate& found, const std::string& title);

}  // namespace tempera::gpu
