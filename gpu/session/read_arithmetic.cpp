#include "gpu/session/read_arithmetic.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace tempera::gpu {

std::optional<Arithmetic> read_arithmetic(const JsonObject& json) {
  if (!json.has("arithmetic")) return std::nullopt;
  const auto arithmetic = arithmetic_named(json.text("arithmetic"));
  if (!arithmetic)
    throw BadInput(json.where(), "key \"arithmetic\" is neither float32 nor tensor-core",
                   "give one of the two");
  return arithmetic;
}

}  // namespace tempera::gpu
