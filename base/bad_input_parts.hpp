#pragma once

#include <optional>
#include <string_view>

namespace tempera {

/// The parts of a BadInput's line, "where: fault; remedy".
struct BadInputParts {
  std::string_view where;
  std::string_view fault;
  std::string_view remedy;
};

/// Returns none for a line of another form.
inline std::optional<BadInputParts> bad_input_parts(std::string_view line) {
  const auto fault = line.find(": ");
  const auto remedy = line.rfind("; ");
  if (fault == std::string_view::npos || remedy == std::string_view::npos || fault > remedy)
    return std::nullopt;
  return BadInputParts{line.substr(0, fault), line.substr(fault + 2, remedy - fault - 2),
                       line.substr(remedy + 2)};
}

}  // namespace tempera
