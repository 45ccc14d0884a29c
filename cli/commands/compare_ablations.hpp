#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/contest/exact_comparison.hpp"

namespace tempera::cli {

/// Prints the paper's ablations on each model, by its file's name: seven tables each, when all are
/// there.
/// @throw BadInput before anything is printed
void run_ablations(const std::vector<std::pair<std::string, reference::FiniteModel>>& models,
                   const lab::ExactComparisonSettings& settings, const std::string& powers,
                   bool json);

}  // namespace tempera::cli
