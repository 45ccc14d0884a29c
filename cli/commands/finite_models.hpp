#pragma once

#include <string>

#include "gpu/llm/models/opened_model.hpp"

namespace tempera::cli {

/// Opens the file of a finite model, as lab::open_finite_model; tempera-sample-only refuses it.
/// @throw BadInput naming file, place and remedy
gpu::OpenedModel::Parts open_finite_model(const std::string& path);

}  // namespace tempera::cli
