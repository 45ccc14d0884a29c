#include "cli/commands/cut_horizon.hpp"

#include <iostream>

#include "base/in_quotes.hpp"

namespace tempera::cli {

void warn_shortened_horizon(const std::optional<std::string>& id, std::size_t horizon,
                            std::size_t asked, std::size_t margin) {
  std::string line = "tempera: prompt" + (id ? " " + in_quotes(*id) : "") + ": T is " +
                     std::to_string(horizon) + " and not " + std::to_string(asked) +
                     ": no more fits after it in the model's positions";
  if (margin > 0) line += " but for the " + std::to_string(margin) + " that a preset leaves free";
  std::cerr << line + '\n';
}

}  // namespace tempera::cli
