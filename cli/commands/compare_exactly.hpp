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

/// Declares the options that only finite models take, and returns them.
std::vector<CLI::Option*> add_exact_compare_options(CLI::App& command,
                                                    ExactCompareOptions& options);
/// Whether this is a file of a finite model by its name, NAME.json.
bool names_finite_model(const std::string& path);
/// Prints the exact comparison on each model, a table each. Leaves out models.json, the list of the
/// shipped models, which toy_models/*.json names too.
/// @throw BadInput before anything is printed
void run_exact_compare(const std::vector<std::string>& models, const ExactCompareOptions& options,
                       bool json);

}  // namespace tempera::cli
