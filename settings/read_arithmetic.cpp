#include "settings/read_arithmetic.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::gpu {

std::optional<Arithmetic> read_arithmetic(const JsonObject& json) {
  if (!json.has("arithmetic")) return std::nullopt;
  const auto arithmetic = arithmetic_named(json.text("arithmetic"));
  if (!arithmetic)
    throw BadInput(json.where(),
                   "key \"arithmetic\" is " + in_quotes(json.text("arithmetic")) +
                       ", which this version does not know",
                   "give " + names_of_arithmetics() + ", or take the version that wrote it");
  return arithmetic;
}

}  // namespace tempera::gpu
