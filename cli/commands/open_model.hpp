#pragma once

#include <optional>
#include <string>

#include "gpu/model/arithmetic.hpp"
#include "gpu/models/opened_model.hpp"

namespace tempera::cli {

/// The model that a user has named. If the model has a remark, one line on stderr says it.
/// @throw BadInput as OpenedModel::open and open_finite_model
gpu::OpenedModel open_model(const std::string& name_or_path,
                            std::optional<gpu::Arithmetic> arithmetic,
                            std::optional<gpu::RopeFactors> rope_factors = std::nullopt);

}  // namespace tempera::cli
