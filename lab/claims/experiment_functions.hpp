#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "lab/claims/paper_tables.hpp"
#include "reference/analysis/diagnostics.hpp"

namespace tempera::lab {

/// Diagnostics, and the paper's tables, as the checks ask for them: see FunctionsUnderTest.
struct ExperimentFunctions {
  decltype(std::function(reference::effective_sample_size)) effective_sample_size =
      reference::effective_sample_size;
  decltype(std::function(reference::incremental_weight_variance)) incremental_weight_variance =
      reference::incremental_weight_variance;
  decltype(std::function(reference::negative_entropy)) negative_entropy =
      reference::negative_entropy;
  decltype(std::function(reference::majority_answer)) majority_answer = reference::majority_answer;
  decltype(std::function(lab::read_paper_tables)) paper_tables = lab::read_paper_tables;
};

}  // namespace tempera::lab
