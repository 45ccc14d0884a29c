#include "gpu/transformer/architectures/architecture.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"
#include "gpu/transformer/architectures/model_config.hpp"
#include "gpu/transformer/architectures/qwen3.hpp"

namespace tempera::gpu {

namespace {

struct KnownArchitecture {
  const char* model_type;
  std::unique_ptr<Architecture> (*load)(const std::filesystem::path& folder,
                                        const Kernels& kernels);
};

constexpr std::array known{KnownArchitecture{Qwen3::model_type, &load_qwen3}};

}  // namespace

std::unique_ptr<Architecture> load_architecture(const std::filesystem::path& folder,
                                                const Kernels& kernels) {
  const auto model_type = read_model_type(folder);
  const auto* found = std::find_if(
      known.begin(), known.end(),
      [&](const KnownArchitecture& architecture) { return architecture.model_type == model_type; });
  if (found == known.end()) {
    std::string names;
    for (const auto& architecture : known) {
      names += (names.empty() ? "" : ", ") + in_quotes(architecture.model_type);
    }
    throw BadInput((folder / "config.json").string(), "\"model_type\" is " + in_quotes(model_type),
                   "choose a model of an architecture that is computed here: " + names);
  }
  return found->load(folder, kernels);
}

}  // namespace tempera::gpu
