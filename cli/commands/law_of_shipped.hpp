#pragma once

#include <string>

#include "lab/laws/shipped_laws.hpp"

namespace tempera::cli {

/// Whether --of names the draw that nvcc compiled.
bool is_of_ptx(const std::string& of);
/// What draws the tokens, as --of says.
lab::MakeRows rows_of(const std::string& of);
/// The subject of a report's first line.
std::string whose(const std::string& of);
/// Seconds with three decimals.
std::string seconds_text(double seconds);

/// What `tempera law` without a model is asked.
struct ShippedLawOptions {
  std::string tree;
  std::string of;  ///< what draws the tokens: program, or ptx
  bool json = false;
  bool all = false;  ///< with ptx: what takes minutes, too
};

/// Prints one line for each shipped use, on one rung and on the ladder, and for each whole program.
/// It prints when all are there, so that a use that is refused leaves no half of a table.
/// @throw CLI::RuntimeError(1) if one fails
void run_shipped_laws(const ShippedLawOptions& options);

}  // namespace tempera::cli
