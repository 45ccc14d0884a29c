#include "gpu/model/arithmetic.hpp"

#include <algorithm>

namespace tempera::gpu {

std::optional<Arithmetic> arithmetic_named(std::string_view name) {
  const auto* found = std::find_if(arithmetics.begin(), arithmetics.end(),
                                   [&](Arithmetic each) { return name_of(each) == name; });
  if (found == arithmetics.end()) return std::nullopt;
  return *found;
}

}  // namespace tempera::gpu
