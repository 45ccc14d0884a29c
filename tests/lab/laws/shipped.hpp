#pragma once

#include <string>

#include "reference/model/finite_model.hpp"

namespace tempera {

/// A finite model of toy_models/, by its name.
inline reference::FiniteModel shipped(const std::string& name) {
  return reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/" + name + ".json");
}

}  // namespace tempera
