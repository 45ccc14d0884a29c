#include "cli/commands/open_model.hpp"

#include <iostream>

#include "base/disk.hpp"
#include "cli/commands/finite_models.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/version.hpp"
#include "gpu/llm/models/hub_model.hpp"
#include "gpu/llm/models/named_model.hpp"
#include "settings/resolve.hpp"

namespace tempera::cli {

gpu::OpenedModel open_model(const std::string& name_or_path,
                            std::optional<gpu::Arithmetic> arithmetic,
                            std::optional<gpu::RopeFactors> rope_factors,
                            const gpu::PackedWeights& packed) {
  gpu::OpenedModel model =
      gpu::OpenedModel::open(name_or_path, open_finite_model, arithmetic, rope_factors, packed);
  if (!model.remark().empty()) {
    std::cerr << "tempera: " << name_or_path << ": " << model.remark() << '\n';
  }
  return model;
}

void add_download(CLI::App& command, bool& value) {
  command.add_flag("--download", value,
                   "Download the model first if MODEL is a name of the Hugging Face Hub, such as "
                   "Qwen/Qwen3-8B, that is not in the cache (by python3's huggingface_hub)");
}

void obtain_if_asked(bool asked, const std::string& name_or_path) {
  if (!asked) return;
  if (const auto* model = gpu::find_named_model(name_or_path)) {
    if (!is_there(name_or_path)) gpu::obtain(*model, false);
    return;
  }
  gpu::download_snapshot(name_or_path);
}

CLI::Option* add_packed_weights(CLI::App& command, std::string& value) {
  return add_text(
      command, "--packed-weights", value, "FOLDER",
      "Keep the packed weights in a file of this folder, which all processes of the machine map: "
      "it "
      "is as large as the model; none: in memory. Default: in memory, but for a shard's weights of "
      "64 MiB or more $XDG_CACHE_HOME/tempera/packed. It changes no answer");
}

gpu::PackedWeights packed_weights(const std::string& asked, bool is_shard) {
  gpu::PackedWeights packed = gpu::resolve_packed_weights(asked, is_shard);
  packed.program = version_of_bits();
  packed.say = [](const std::string& line) { std::cerr << "tempera: " << line << '\n'; };
  return packed;
}

}  // namespace tempera::cli
