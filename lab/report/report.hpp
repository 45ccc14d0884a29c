#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/claims/claim_runner.hpp"
#include "lab/defects/kernel_gallery.hpp"
#include "lab/laws/shipped_models.hpp"

namespace tempera::lab {

/// What a report tells of.
struct Report {
  std::string made_by;                 ///< the program, in a line
  std::vector<ClaimResult> decisions;  ///< of every claim, in the order of claims.json
  std::vector<DefectFound> defects;    ///< of the gallery
  std::vector<ShippedUse> uses;        ///< whose ladders are shown
  /// The theorems that decisions name, as their files have it.
  std::map<std::string, std::string> theorems = {};
};

/// One HTML page, whole in itself: no file beside it, no script, light or dark as the reader's
/// system is. It holds the counts, the four-state example's total variations, the samplers at
/// matched compute on the uses' models that name answers and the ablations there, the exact
/// acceptances of the uses' ladders, every claim by its verdict, and the defects with their
/// counterexamples drawn. What is drawn or printed as a fraction is computed in rationals here.
std::string report_page(const Report& report);

}  // namespace tempera::lab
