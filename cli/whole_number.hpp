#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tempera::cli {

/// Refuses what is not a row of digits: CLI11 2.1 reads -1 into an unsigned number as 2^64 − 1.
inline const CLI::Validator whole_number(
    [](std::string& text) {
      const bool digits =
          !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
      return digits ? std::string() : '"' + text + "\" is not a whole number";
    },
    "");

}  // namespace tempera::cli
