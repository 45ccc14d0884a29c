#include "gpu/llm/transformer/architectures/architecture.hpp"

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu {

TEST_CASE("the model_type of config.json picks the architecture, and an unknown one is refused",
          "[architecture]") {
  const ModelFolder folder("untied_float32");
  const auto load = [&] { Transformer::load(folder.path()); };
  CHECK_NOTHROW(load());
  for (const char* unknown : {"gpt2", "qwen2_moe", "Qwen3", ""}) {
    INFO(unknown);
    folder.edit_json("config.json", [&](auto& config) { config["model_type"] = unknown; });
    require_bad_input(load,
                      {"config.json", "model_type", "\"" + std::string(unknown) + "\"",
                       "computed here: \"llama\", \"phi3\", \"qwen2\", \"qwen3\", \"granite\""});
  }
  folder.edit_json("config.json", [](auto& config) { config["model_type"] = 3; });
  require_bad_input(load, {"config.json", "model_type"});
  folder.edit_json("config.json", [](auto& config) { config.erase("model_type"); });
  require_bad_input(load, {"config.json", "model_type", "missing"});
}

TEST_CASE("a transformer computes with the form of the kernels that it was given",
          "[architecture]") {
  for (const Kernels* kernels : forms_of_the_kernels()) {
    CHECK(&Transformer::load(qwen3_fixtures / "untied_float32", *kernels)->kernels() == kernels);
  }
}

}  // namespace tempera::gpu
