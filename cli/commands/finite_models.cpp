#include "cli/commands/finite_models.hpp"

#include "lab/enumerate/finite_model_file.hpp"

namespace tempera::cli {

gpu::OpenedModel::Parts open_finite_model(const std::string& path) {
  return lab::open_finite_model(path);
}

}  // namespace tempera::cli
