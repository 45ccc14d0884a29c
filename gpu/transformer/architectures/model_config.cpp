#include "gpu/transformer/architectures/model_config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"

namespace tempera::gpu {

namespace {

/// The type of the rotary positions, under its key or the oldest one, which is `type`.
std::string rope_type(const JsonObject& rope, std::initializer_list<std::string_view> scalings) {
  std::string type = "default";
  for (const char* key : {"rope_type", "type"}) {
    if (!rope.has(key)) continue;
    type = rope.text(key);
    if (type != "default" && std::find(scalings.begin(), scalings.end(), type) == scalings.end()) {
      std::string names = "\"default\"";
      for (const auto scaling : scalings) names += " or " + in_quotes(scaling);
      throw BadInput(rope.where(), in_quotes(key) + " is " + in_quotes(type),
                     "only " + names + " is supported; choose a model that has it");
    }
  }
  return type;
}

void require_whole_rotation(const JsonObject& config) {
  const std::string key = "partial_rotary_factor";
  if (config.has(key) && config.finite_number(key) != 1.0) {
    throw BadInput(config.where(), in_quotes(key) + " is not 1",
                   "only heads that are rotated whole are supported; choose another model");
  }
}

}  // namespace

std::string read_model_type(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  const auto document = read_json_file(file);
  return JsonObject(document, file.string()).text("model_type");
}

void require_text(const JsonObject& config, const std::string& key, const std::string& only) {
  const auto text = config.text(key);
  if (text != only) {
    throw BadInput(config.where(), in_quotes(key) + " is " + in_quotes(text),
                   "only " + in_quotes(only) + " is supported; choose a model that has it");
  }
}

void require_false(const JsonObject& config, const std::string& key) {
  if (config.boolean_or(key, false)) {
    throw BadInput(config.where(), in_quotes(key) + " is true",
                   "only false is supported; choose a model without it");
  }
}

void require_unquantised(const JsonObject& config) {
  if (config.has("quantization_config")) {
    throw BadInput(config.where(), "\"quantization_config\" is set",
                   "only F32 and BF16 weights are supported; choose the unquantised model");
  }
}

void require_full_attention(const JsonObject& config) {
  require_false(config, "use_sliding_window");
  if (!config.has("layer_types")) return;
  for (const auto& type : config.array("layer_types")) {
    if (type != "full_attention") {
      throw BadInput(
          config.where(), "\"layer_types\" names " + in_quotes(type.dump(-1, ' ', true)),
          "only \"full_attention\" is supported; choose a model without sliding windows");
    }
  }
}

RopeParameters read_rope(const JsonObject& config,
                         std::initializer_list<std::string_view> scalings) {
  require_whole_rotation(config);
  RopeParameters result{0.0, "default", std::nullopt};
  const auto take = [&](const JsonObject& rope) {
    require_whole_rotation(rope);
    const auto type = rope_type(rope, scalings);
    if (type == "default") return;
    if (result.scaling) {
      throw BadInput(config.where(), "\"rope_scaling\" and \"rope_parameters\" both scale",
                     "remove the first of the two");
    }
    result.type = type;
    result.scaling = rope;
  };
  if (config.has("rope_scaling")) take(config.object("rope_scaling"));
  if (config.has("rope_parameters")) {
    const auto rope = config.object("rope_parameters");
    take(rope);
    result.theta = rope.positive_number("rope_theta");
  } else {
    result.theta = config.positive_number("rope_theta");
  }
  return result;
}

double read_rope_theta(const JsonObject& config) { return read_rope(config, {}).theta; }

std::vector<std::uint32_t> read_terminal_tokens(const JsonObject& config,
                                                std::size_t vocabulary_size) {
  const std::string key = "eos_token_id";
  std::vector<std::uint32_t> ids;
  if (!config.has(key)) return ids;
  const auto append = [&](const nlohmann::json& id) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocabulary_size) {
      throw BadInput(config.where(), in_quotes(key) + " is not a token below vocab_size",
                     "give the number of a token, or a list of them");
    }
    ids.push_back(id.get<std::uint32_t>());
  };
  const auto& value = config.at(key);
  if (value.is_array()) {
    std::for_each(value.begin(), value.end(), append);
  } else {
    append(value);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<std::uint32_t> read_generation_terminal_tokens(const std::filesystem::path& folder,
                                                           std::size_t vocabulary_size,
                                                           std::vector<std::uint32_t> otherwise) {
  const auto file = folder / "generation_config.json";
  if (!std::filesystem::exists(file)) return otherwise;
  const auto document = read_json_file(file);
  const JsonObject generation(document, file.string());
  if (!generation.has("eos_token_id")) return otherwise;
  return read_terminal_tokens(generation, vocabulary_size);
}

}  // namespace tempera::gpu
