#include "cli/commands/finite_models.hpp"

#include "base/error.hpp"

namespace tempera::cli {

gpu::OpenedModel::Parts open_finite_model(const std::string& path) {
  throw BadInput(path, "is a finite model, which tempera-sample-only does not read",
                 "use tempera, or name a model's folder or GGUF file");
}

}  // namespace tempera::cli
