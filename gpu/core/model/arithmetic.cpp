#include "gpu/core/model/arithmetic.hpp"

#include <algorithm>

namespace tempera::gpu {

std::optional<Arithmetic> arithmetic_named(std::string_view name) {
  const auto* found = std::find_if(arithmetics.begin(), arithmetics.end(),
                                   [&](Arithmetic each) { return name_of(each) == name; });
  if (found == arithmetics.end()) return std::nullopt;
  return *found;
}

std::string names_of_arithmetics() {
  std::string names;
  for (std::size_t i = 0; i < arithmetics.size(); ++i) {
    names += i == 0 ? "" : i + 1 < arithmetics.size() ? ", " : " or ";
    names += name_of(arithmetics[i]);
  }
  return names;
}

}  // namespace tempera::gpu
