#include "cli/commands/open_model.hpp"

#include <iostream>

#include "cli/commands/finite_models.hpp"

namespace tempera::cli {

gpu::OpenedModel open_model(const std::string& name_or_path,
                            std::optional<gpu::Arithmetic> arithmetic,
                            std::optional<gpu::RopeFactors> rope_factors) {
  gpu::OpenedModel model =
      gpu::OpenedModel::open(name_or_path, open_finite_model, arithmetic, rope_factors);
  if (!model.remark().empty()) {
    std::cerr << "tempera: " << name_or_path << ": " << model.remark() << '\n';
  }
  return model;
}

}  // namespace tempera::cli
