#include "gpu/llm/transformer/architectures/architecture.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/architectures/gemma3.hpp"
#include "gpu/llm/transformer/architectures/gpt_oss.hpp"
#include "gpu/llm/transformer/architectures/granite.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/ministral3.hpp"
#include "gpu/llm/transformer/architectures/mistral.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"
#include "gpu/llm/transformer/architectures/olmo2.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/architectures/smollm3.hpp"
#include "gpu/llm/transformer/weights/gguf_tensors.hpp"

namespace tempera::gpu {

namespace {

/// Refuses a choice of factors for a model that has one set.
void require_no_choice(const std::string& file, std::optional<RopeFactors> factors) {
  if (!factors) return;
  throw BadInput(file,
                 "has one set of rotary factors, and its " + std::string(name_of(*factors)) +
                     " ones were asked for",
                 "leave the choice out");
}

/// The configuration, with the factors that were asked for.
template <class Model, class Source>
DecoderConfig configuration_of(const Source& source, const std::string& file,
                               std::optional<RopeFactors> factors) {
  DecoderConfig config;
  if constexpr (std::is_same_v<Model, Phi3>) {
    config = Phi3::configuration(source, factors.value_or(RopeFactors::of_short_texts));
  } else {
    config = Model::configuration(source);
  }
  if (!config.rope_choice) require_no_choice(file, factors);
  return config;
}

constexpr const char* head_name = "lm_head.weight";

/// Adds a clause to what a user has to know.
void remark(DecoderConfig& config, const std::string& clause) {
  config.remark += (config.remark.empty() ? "" : "; ") + clause;
}

/// The experts of a layer; 0 of a dense model.
std::size_t experts_of(const DecoderConfig& config) {
  return config.experts ? config.experts->experts : 0;
}

/// Whether a folder's tensor of this name is the head of a model whose head is its embedding.
bool is_second_embedding(const std::string& name, const DecoderConfig& config) {
  return name == head_name && config.tie_word_embeddings;
}

/// Decides on a head that is stored although config.json ties it to the embedding. As in
/// transformers 5, a head that differs from the embedding is used, and a head that is stored
/// without an embedding serves as both.
void resolve_head(const TensorFiles& files, FolderTensors& tensors, DecoderConfig& config) {
  const auto& stored = files.tensors();
  const auto head = stored.find(head_name);
  if (!config.tie_word_embeddings || head == stored.end()) return;
  const std::string embedding_name = "model.embed_tokens.weight";
  const auto embedding = stored.find(tensors.name_in_files(embedding_name));
  if (embedding == stored.end()) {
    tensors.take_for(embedding_name, head_name);
    return;
  }
  const auto& one = embedding->second;
  const auto& other = head->second;
  const bool are_equal =
      one.dtype == other.dtype && one.shape == other.shape &&
      std::equal(one.bytes.begin(), one.bytes.end(), other.bytes.begin(), other.bytes.end());
  files.forget(one);
  files.forget(other);
  if (are_equal) return;
  config.tie_word_embeddings = false;
  remark(config,
         "computes with the stored lm_head.weight, which is not the embedding, although "
         "\"tie_word_embeddings\" is true");
}

/// transformers adds an adapter that it finds in a model's folder to the weights.
void require_no_adapter(const std::filesystem::path& folder) {
  const auto file = folder / "adapter_config.json";
  if (!is_there(file)) return;
  throw BadInput(file.string(), "belongs to an adapter, which is not computed here",
                 "merge it into the model, or remove it from the folder");
}

/// A dense decoder whose tensors' names begin with `prefix`. is_left_out: whether a tensor belongs
/// to no part that is computed here.
template <class Model, class IsLeftOut>
std::unique_ptr<Architecture> read_dense_model(const TensorFiles& files, const std::string& prefix,
                                               DecoderConfig config, const Kernels& kernels,
                                               PackedWeightsFile* packed,
                                               const IsLeftOut& is_left_out) {
  FolderTensors tensors(files, prefix);
  // Older folders of models that see images have the head beside the text model.
  constexpr const char* older_head = "language_model.lm_head.weight";
  if (files.tensors().contains(older_head)) tensors.take_for(head_name, older_head);
  tensors.dequantise_as(config.quantisation);
  tensors.stack_experts(experts_of(config));
  if constexpr (requires { Model::interleaves_experts; }) tensors.interleave_experts();
  tensors.take_packed_from(packed);
  resolve_head(files, tensors, config);
  auto model = std::make_unique<Model>(config, tensors, kernels);
  tensors.require_all_used([&](const std::string& name) {
    return is_second_embedding(name, config) || is_left_out(name);
  });
  return model;
}

template <class Model>
std::unique_ptr<Architecture> load_folder(const std::filesystem::path& folder,
                                          const Kernels& kernels,
                                          std::optional<RopeFactors> factors,
                                          PackedWeightsFile* packed) {
  const auto file = folder / "config.json";
  const auto document = read_json_file(file);
  auto config =
      configuration_of<Model>(JsonObject(document, file.string()), file.string(), factors);
  require_kernels(Model::traits, config, kernels, file.string());
  require_no_adapter(folder);
  const TensorFiles files(folder);
  // Some exporters write what the architecture computes itself.
  return read_dense_model<Model>(
      files, "model.", std::move(config), kernels, packed,
      [](const std::string& name) { return name.ends_with("rotary_emb.inv_freq"); });
}

/// A text model alone, or the text model of a folder that sees images too.
std::unique_ptr<Architecture> load_qwen3_5(const std::filesystem::path& folder,
                                           const Kernels& kernels,
                                           std::optional<RopeFactors> factors,
                                           PackedWeightsFile* packed) {
  const auto file = folder / "config.json";
  const auto document = read_json_file(file);
  const JsonObject json(document, file.string());
  const auto type = json.text("model_type");
  const bool is_outer = type == Qwen3_5::outer_model_type || type == Qwen3_5::outer_moe_model_type;
  auto config = is_outer ? Qwen3_5::outer_configuration(json) : Qwen3_5::configuration(json);
  require_no_choice(file.string(), factors);
  Qwen3_5::require_kernels(config, kernels, file.string());
  require_no_adapter(folder);
  const TensorFiles files(folder);
  FolderTensors tensors(files, is_outer ? "model.language_model." : "model.");
  tensors.stack_experts(experts_of(config));
  tensors.take_packed_from(packed);
  resolve_head(files, tensors, config);
  const auto is_left_out = [](const std::string& name) {
    return name.starts_with("model.visual.") || name.starts_with("mtp.");
  };
  const auto holds = [&](std::string_view begin) {
    return std::any_of(files.tensors().begin(), files.tensors().end(),
                       [&](const auto& each) { return each.first.starts_with(begin); });
  };
  if (!is_outer && holds("model.visual.")) {
    remark(config, Qwen3_5::text_alone);
  } else if (!is_outer && holds("mtp.")) {
    remark(config, Qwen3_5::predicts_one);
  }
  auto model = std::make_unique<Qwen3_5>(config, tensors, kernels);
  tensors.require_all_used([&](const std::string& name) {
    return is_second_embedding(name, config) || is_left_out(name);
  });
  return model;
}

/// A text model alone, or the text model of a folder that sees images too.
template <class Model>
std::unique_ptr<Architecture> load_text_model(const std::filesystem::path& folder,
                                              const Kernels& kernels,
                                              std::optional<RopeFactors> factors,
                                              PackedWeightsFile* packed) {
  const auto file = folder / "config.json";
  const auto document = read_json_file(file);
  const JsonObject json(document, file.string());
  const bool is_outer = json.text("model_type") == Model::outer_model_type;
  auto config = is_outer ? Model::outer_configuration(json) : Model::configuration(json);
  require_no_choice(file.string(), factors);
  require_kernels(Model::traits, config, kernels, file.string());
  require_no_adapter(folder);
  const TensorFiles files(folder);
  // transformers 5 writes the names of the text model otherwise than version 4.
  const std::string older = "language_model.model.";
  const bool is_older = files.tensors().contains(older + "embed_tokens.weight");
  const auto is_of_images = [is_outer](const std::string& name) {
    constexpr std::array<std::string_view, 4> of_images{"vision_tower.", "multi_modal_projector.",
                                                        "model.vision_tower.",
                                                        "model.multi_modal_projector."};
    return is_outer && std::any_of(of_images.begin(), of_images.end(),
                                   [&](auto begin) { return name.starts_with(begin); });
  };
  const std::string prefix = !is_outer ? "model." : is_older ? older : "model.language_model.";
  return read_dense_model<Model>(files, prefix, std::move(config), kernels, packed, is_of_images);
}

std::unique_ptr<Architecture> load_qwen3_5_gguf(const GgufFile& file, const Kernels& kernels,
                                                std::optional<RopeFactors> factors,
                                                PackedWeightsFile* packed) {
  const auto& where = file.metadata().file();
  require_no_choice(where, factors);
  const auto config = Qwen3_5::configuration(file);
  Qwen3_5::require_kernels(config, kernels, where);
  GgufTensors tensors(file, Qwen3_5::gguf_order(config));
  tensors.take_packed_from(packed);
  auto model = std::make_unique<Qwen3_5>(config, tensors, kernels);
  // The blocks after the model's own, which it has counted.
  std::set<std::string> left_out;
  for (std::size_t block = config.num_hidden_layers; block < config.num_blocks; ++block) {
    left_out.insert("blk." + std::to_string(block) + ".");
  }
  tensors.require_all_used([&](const std::string& name) {
    const std::size_t dot = name.find('.', 4);
    return dot != std::string::npos && left_out.contains(name.substr(0, dot + 1));
  });
  return model;
}

template <class Model>
std::unique_ptr<Architecture> load_gguf(const GgufFile& file, const Kernels& kernels,
                                        std::optional<RopeFactors> factors,
                                        PackedWeightsFile* packed) {
  const auto config = configuration_of<Model>(file, file.metadata().file(), factors);
  require_kernels(Model::traits, config, kernels, file.metadata().file());
  GgufTensors tensors(
      file, {Model::gguf_pairs_neighbours, config.head_dim, std::nullopt, experts_of(config)});
  tensors.take_packed_from(packed);
  auto model = std::make_unique<Model>(config, tensors, kernels);
  tensors.require_all_used([](const std::string& name) {
    const auto& read = Model::gguf_factors;
    return std::find(read.begin(), read.end(), name) != read.end();
  });
  return model;
}

struct KnownArchitecture {
  const char* model_type;  // of a config.json
  const char* gguf;        // the general.architecture of a GGUF file; null if it has none
  std::unique_ptr<Architecture> (*load_folder)(const std::filesystem::path& folder,
                                               const Kernels& kernels,
                                               std::optional<RopeFactors> factors,
                                               PackedWeightsFile* packed);
  std::unique_ptr<Architecture> (*load_gguf)(const GgufFile& file, const Kernels& kernels,
                                             std::optional<RopeFactors> factors,
                                             PackedWeightsFile* packed);
};

template <class Model>
constexpr KnownArchitecture known_as{Model::model_type, Model::model_type, load_folder<Model>,
                                     load_gguf<Model>};
/// A family whose GGUF files have the name of another.
template <class Model>
constexpr KnownArchitecture known_as_folder{Model::model_type, nullptr, load_folder<Model>,
                                            nullptr};

constexpr std::array known_architectures{
    known_as<Llama>,
    known_as<Phi3>,
    known_as<Qwen2>,
    known_as<Qwen3>,
    known_as<Granite>,
    known_as<Olmo2>,
    known_as<SmolLM3>,
    known_as_folder<Mistral>,
    known_as_folder<Ministral>,
    known_as_folder<Olmo3>,
    KnownArchitecture{Qwen3Moe::model_type, Qwen3Moe::gguf_architecture, load_folder<Qwen3Moe>,
                      load_gguf<Qwen3Moe>},
    KnownArchitecture{GptOss::model_type, GptOss::gguf_architecture, load_folder<GptOss>,
                      load_gguf<GptOss>},
    KnownArchitecture{Gemma3::model_type, Gemma3::gguf_architecture, load_text_model<Gemma3>,
                      load_gguf<Gemma3>},
    KnownArchitecture{Gemma3::outer_model_type, nullptr, load_text_model<Gemma3>, nullptr},
    KnownArchitecture{Ministral3::model_type, nullptr, load_text_model<Ministral3>, nullptr},
    KnownArchitecture{Ministral3::outer_model_type, nullptr, load_text_model<Ministral3>, nullptr},
    KnownArchitecture{Qwen3_5::model_type, Qwen3_5::gguf_architecture, load_qwen3_5,
                      load_qwen3_5_gguf},
    KnownArchitecture{Qwen3_5::outer_model_type, nullptr, load_qwen3_5, nullptr},
    KnownArchitecture{Qwen3_5::moe_model_type, Qwen3_5::gguf_moe_architecture, load_qwen3_5,
                      load_qwen3_5_gguf},
    KnownArchitecture{Qwen3_5::outer_moe_model_type, nullptr, load_qwen3_5, nullptr}};

/// `name_in` is the architecture's name in this form of a model.
/// @throw BadInput naming `where`, which calls its architecture `key`
const KnownArchitecture& find_architecture(const std::string& where, const std::string& key,
                                           std::string_view name,
                                           const char* KnownArchitecture::*name_in) {
  std::string names;
  for (const auto& architecture : known_architectures) {
    const char* known = architecture.*name_in;
    if (known == nullptr) continue;
    if (known == name) return architecture;
    names += (names.empty() ? "" : ", ") + in_quotes(known);
  }
  const bool is_folder = name_in == &KnownArchitecture::model_type;
  throw BadInput(
      where, in_quotes(key) + " is " + in_quotes(name),
      "choose a model of an architecture that is computed here: " + names +
          (is_folder ? "; or open it by tempera.Model.from_transformers in Python" : ""));
}

}  // namespace

std::unique_ptr<Architecture> load_architecture(const GgufFile& file, const Kernels& kernels,
                                                std::optional<RopeFactors> rope_factors,
                                                PackedWeightsFile* packed) {
  const std::string key = "general.architecture";
  return find_architecture(file.metadata().file(), key, file.metadata().text(key),
                           &KnownArchitecture::gguf)
      .load_gguf(file, kernels, rope_factors, packed);
}

std::unique_ptr<Architecture> load_architecture(const std::filesystem::path& path,
                                                const Kernels& kernels,
                                                std::optional<RopeFactors> rope_factors,
                                                PackedWeightsFile* packed) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error))
    return load_architecture(GgufFile(path), kernels, rope_factors, packed);
  return find_architecture((path / "config.json").string(), "model_type", read_model_type(path),
                           &KnownArchitecture::model_type)
      .load_folder(path, kernels, rope_factors, packed);
}

}  // namespace tempera::gpu
