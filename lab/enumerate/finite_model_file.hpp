#pragma once

#include <optional>
#include <string>

#include "gpu/llm/models/opened_model.hpp"

namespace tempera::lab {

/// A finite model's file (JSON, docs/reference/toy_models.md) as production opens a model: its text
/// is the names of its tokens, joined by spaces, and the empty text is the empty prompt.
/// @throw BadInput naming file, place and remedy
gpu::OpenedModel::Parts open_finite_model(const std::string& path);

/// A model that a user has named: a Hugging Face folder, or the file of a finite model; its
/// arithmetic and rotary factors as OpenedModel::open says.
/// @throw BadInput or BadInput naming file, place and remedy
inline gpu::OpenedModel open_model(const std::string& path,
                                   std::optional<gpu::Arithmetic> arithmetic = std::nullopt,
                                   std::optional<gpu::RopeFactors> rope_factors = std::nullopt) {
  return gpu::OpenedModel::open(path, open_finite_model, arithmetic, rope_factors);
}

}  // namespace tempera::lab
