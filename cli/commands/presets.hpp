#pragma once

#include <string>

#include "gpu/session/presets.hpp"

namespace tempera::cli {

/// The preset of this name.
/// @throw BadInput with the nearest name
const gpu::Preset& preset_named(const std::string& name);

}  // namespace tempera::cli
