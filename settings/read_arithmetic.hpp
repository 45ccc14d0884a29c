#pragma once

#include <optional>

#include "base/json_document.hpp"
#include "gpu/core/model/arithmetic.hpp"

namespace tempera::gpu {

/// The arithmetic that the key "arithmetic" names, none if there is no such key.
/// @throw BadInput naming the place for any other value
std::optional<Arithmetic> read_arithmetic(const JsonObject& json);

}  // namespace tempera::gpu
