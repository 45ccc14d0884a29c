// A small folder of each family of checks/wanted_models.txt, from its fixture's config.json: it
// opens, or its family is refused by name.
#include <fstream>
#include <set>
#include <sstream>

#include "gpu/llm/transformer/architectures/gemma3.hpp"
#include "gpu/llm/transformer/architectures/gpt_oss.hpp"
#include "gpu/llm/transformer/architectures/granite.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/mistral.hpp"
#include "gpu/llm/transformer/architectures/olmo2.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/architectures/smollm3.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"

namespace tempera::gpu::wanted_models_test {

namespace {

using nlohmann::json;

/// The model types of the list.
std::set<std::string> wanted_families() {
  std::ifstream list(std::filesystem::path(TEMPERA_SOURCE_DIR) / "checks/wanted_models.txt");
  std::set<std::string> families;
  for (std::string line; std::getline(list, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string name;
    std::string family;
    words >> name >> family;
    families.insert(family);
  }
  return families;
}

template <class Model>
void write_fixture(const ModelFolder& folder, const char* fixture) {
  const auto document = read_json_file(architecture_fixtures / fixture / "config.json");
  folder.write("config.json", document.dump());
  folder.write("generation_config.json", "{}");
  FormulaTensors tensors;
  const auto config = Model::configuration(JsonObject(document, "config.json"));
  const Model model(config, tensors, default_kernels());
  write_safetensors(folder.path(), tensors.made());
}

/// Puts the fixture's text model into a folder that sees images, as transformers 4 wrote it.
template <class Model>
void write_outer(const ModelFolder& folder, const char* fixture, const std::string& prefix,
                 const std::string& of_images, const char* model_type = Model::outer_model_type) {
  const auto text = read_json_file(architecture_fixtures / fixture / "config.json");
  const json outer{
      {"model_type", model_type}, {"text_config", text}, {"vision_config", {{"depth", 2}}}};
  folder.write("config.json", outer.dump());
  folder.write("generation_config.json", "{}");
  FormulaTensors tensors;
  const auto config = Model::configuration(JsonObject(text, "config.json"));
  const Model model(config, tensors, default_kernels());
  std::map<std::string, FormulaTensors::Made> renamed;
  for (const auto& [name, made] : tensors.made())
    renamed[name.starts_with("model.") ? prefix + name.substr(6) : name] = made;
  renamed[of_images] = renamed.begin()->second;
  write_safetensors(folder.path(), renamed);
}

/// Writes a folder of the family; false if it is none of those that are computed.
bool write_folder(const ModelFolder& folder, const std::string& family) {
  if (family == "gemma3_text") {
    write_fixture<Gemma3>(folder, "gemma3");
  } else if (family == "gemma3") {
    write_outer<Gemma3>(folder, "gemma3", "language_model.model.", "vision_tower.a.weight");
  } else if (family == "gpt_oss") {
    write_fixture<GptOss>(folder, "gpt_oss");
  } else if (family == "granite") {
    write_fixture<Granite>(folder, "granite");
  } else if (family == "llama") {
    write_fixture<Llama>(folder, "llama_tied");
  } else if (family == "mistral") {
    write_fixture<Mistral>(folder, "mistral");
  } else if (family == "olmo2") {
    write_fixture<Olmo2>(folder, "olmo2");
  } else if (family == "olmo3") {
    write_fixture<Olmo3>(folder, "olmo3");
  } else if (family == "phi3") {
    write_fixture<Phi3>(folder, "phi3_short");
  } else if (family == "qwen2") {
    write_fixture<Qwen2>(folder, "qwen2");
  } else if (family == "qwen3") {
    write_fixture<Qwen3>(folder, "qwen3");
  } else if (family == "qwen3_moe") {
    write_fixture<Qwen3Moe>(folder, "qwen3_moe");
  } else if (family == "qwen3_5") {
    write_outer<Qwen3_5>(folder, "qwen3_5", "model.language_model.", "model.visual.a.weight");
  } else if (family == "qwen3_5_moe") {
    write_outer<Qwen3_5>(folder, "qwen3_5_moe", "model.language_model.", "model.visual.a.weight",
                         Qwen3_5::outer_moe_model_type);
  } else if (family == "smollm3") {
    write_fixture<SmolLM3>(folder, "smollm3");
  } else {
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("each family of the wanted models opens from a folder, or is refused by its name",
          "[architecture][wanted]") {
  std::size_t opened = 0;
  for (const auto& family : wanted_families()) {
    INFO(family);
    const ModelFolder folder("untied_float32");
    const auto load = [&] { return Transformer::load(folder.path()); };
    if (write_folder(folder, family)) {
      const auto model = load();
      DeviceMemory<float> memory;
      model->logits_at_every_position(std::vector<TokenId>{3, 1, 4}, memory);
      CHECK(std::isfinite(memory.download(0, 1)[0]));
      ++opened;
      continue;
    }
    folder.edit_json("config.json", [&](auto& config) { config["model_type"] = family; });
    require_bad_input(load, {"config.json", "\"" + family + "\"", "computed here"});
  }
  CHECK(opened == 15);
}

TEST_CASE("a Gemma 3 that sees images opens as transformers 5 writes it, too",
          "[architecture][wanted]") {
  const ModelFolder older("untied_float32");
  const ModelFolder newer("untied_float32");
  write_outer<Gemma3>(older, "gemma3", "language_model.model.", "vision_tower.a.weight");
  write_outer<Gemma3>(newer, "gemma3", "model.language_model.", "model.vision_tower.a.weight");
  const auto logits = [](const ModelFolder& folder) {
    const auto model = Transformer::load(folder.path());
    CHECK(model->remark().find("images are not seen") != std::string::npos);
    DeviceMemory<float> memory;
    model->logits_at_every_position(std::vector<TokenId>{3, 1, 4}, memory);
    return memory.download(0, 3 * model->vocabulary_size());
  };
  CHECK(logits(older) == logits(newer));
}

}  // namespace tempera::gpu::wanted_models_test
