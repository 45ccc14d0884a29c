#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lab/contest/exact_comparison.hpp"

namespace tempera::cli {

/// What `tempera compare` is asked about finite models.
struct ExactCompareOptions {
  std::string powers;
  /// All but its ladder, which `powers` gives, and its curves.
  lab::ExactComparisonSettings settings{.ladder = reference::Ladder({reference::Power(1)})};
  std::string answers;
  std::string plot;
  bool ablations = false;
};

/// Declares all options but --json.
void add_exact_compare_options(CLI::App& command, ExactCompareOptions& options);
/// Prints the exact comparison on each model, a table each. Leaves out models.json, the list of the
/// shipped models, which toy_models/*.json names too.
/// @throw BadInput before anything is printed
void run_exact_compare(const std::vector<std::string>& models, const ExactCompareOptions& options,
                       bool json);

}  // namespace tempera::cli
