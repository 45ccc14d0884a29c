#pragma once

#include <string>

#include "gpu/runs/presets.hpp"

namespace tempera::cli {

/// The preset of this name.
/// @throw gpu::BadInput with the nearest name
const gpu::Preset& preset_named(const std::string& name);

}  // namespace tempera::cli
