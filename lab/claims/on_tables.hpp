#pragma once

#include <fstream>
#include <string>

#include "lab/claims/checks.hpp"
#include "lab/claims/experiment_functions.hpp"

namespace tempera::lab {

/// Counts body(count, tables) on the paper's tables.
template <class Body>
CheckResult on_tables(const CheckContext& context, const std::string& unit, Body&& body) {
  if (!std::ifstream(context.tree + "/proofs/paper_tables.json"))
    return {std::nullopt, "decides nothing: there is no proofs/paper_tables.json"};
  Count count;
  body(count, context.functions.of<ExperimentFunctions>().paper_tables(context.tree));
  return count.finding(unit);
}

}  // namespace tempera::lab
