#pragma once

#include <string>

#include "gpu/llm/models/opened_model.hpp"
#include "tempera/model.hpp"

namespace tempera {

/// What a public Model is made of.
struct Model::Parts {
  std::string name;
  gpu::OpenedModel opened;
};

}  // namespace tempera
