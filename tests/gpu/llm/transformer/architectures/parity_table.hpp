// The parity table: one row for each architecture and arithmetic, as the checks have found it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "gpu/core/model/arithmetic.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"

namespace tempera::gpu {

/// How far a model's logits are from those of transformers: the largest difference under float32,
/// the root of the mean square under tensor-core.
struct ParityRow {
  std::string name;
  Arithmetic arithmetic = Arithmetic::float32;
  double distance = 0.0;
  double tolerance = 0.0;
  /// The distance of the nearest planted defect; infinite if none was planted.
  double nearest_defect = std::numeric_limits<double>::infinity();
};

/// Writes the row after those in the file that TEMPERA_PARITY_TABLE names, if it names one.
inline void write_parity(const ParityRow& row, const ExpectedLogits& expected) {
  const char* file = std::getenv("TEMPERA_PARITY_TABLE");
  if (file == nullptr) return;
  char defect[24] = "-";
  if (row.nearest_defect < std::numeric_limits<double>::infinity())
    std::snprintf(defect, sizeof defect, "%.1e", row.nearest_defect);
  char line[160];
  std::snprintf(line, sizeof line, "%-14s %-11s %6zu tokens  largest %6.2f  %.1e of %.1e  %s\n",
                row.name.c_str(), std::string(name_of(row.arithmetic)).c_str(),
                expected.tokens.size(), expected.largest(), row.distance, row.tolerance, defect);
  std::ofstream(file, std::ios::app) << line;
}

}  // namespace tempera::gpu
