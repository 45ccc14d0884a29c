#include "settings/sampling_settings.hpp"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "settings/field_json.hpp"
#include "settings/read_arithmetic.hpp"

namespace tempera::gpu {
namespace {

constexpr std::uint64_t any_token = std::numeric_limits<TokenId>::max();

std::vector<TokenId> tokens_of(const JsonObject& config, const std::string& key) {
  const auto numbers = config.whole_numbers(key, 0, any_token);
  return {numbers.begin(), numbers.end()};
}

/// A prompt's own T, at most that of the run.
std::optional<std::size_t> own_horizon(const JsonObject& prompt, const std::string& key,
                                       std::size_t horizon) {
  if (!prompt.has(key)) return std::nullopt;
  return prompt.whole_number(key, 1, horizon);
}

std::vector<SamplePrompt> prompts_of(const JsonObject& config, std::size_t horizon) {
  if (!config.has("prompts"))
    return {{std::nullopt, tokens_of(config, "prompt"),
             own_horizon(config, "prompt_horizon", horizon)}};
  for (const std::string key : {"prompt", "prompt_horizon"})
    if (config.has(key))
      throw BadInput(config.where(), "has both keys \"" + key + "\" and \"prompts\"", "remove one");
  std::vector<SamplePrompt> prompts;
  for (const auto& value : config.array("prompts")) {
    const JsonObject prompt(value,
                            config.where() + ", prompt " + std::to_string(prompts.size() + 1));
    prompt.only({"id", "tokens", "horizon"});
    prompts.push_back(
        {prompt.text("id"), tokens_of(prompt, "tokens"), own_horizon(prompt, "horizon", horizon)});
  }
  if (prompts.empty()) throw BadInput(config.where(), "lists no prompt", "start the run again");
  return prompts;
}

}  // namespace

nlohmann::ordered_json SamplingSettings::to_json() const {
  nlohmann::ordered_json json{{"model", model}, {"model_path", model_path}};
  if (arithmetic) json["arithmetic"] = name_of(*arithmetic);
  if (foreign) {
    json["arithmetic"] = foreign->name;
    json["model_digest"] = foreign->digest ? nlohmann::ordered_json(*foreign->digest) : nullptr;
  }
  if (prompts.size() == 1 && !prompts.front().id) {
    json["prompt"] = prompts.front().tokens;
    if (prompts.front().horizon) json["prompt_horizon"] = *prompts.front().horizon;
  } else {
    auto& list = json["prompts"] = nlohmann::ordered_json::array();
    for (const SamplePrompt& prompt : prompts) {
      list.push_back({{"id", *prompt.id}, {"tokens", prompt.tokens}});
      if (prompt.horizon) list.back()["horizon"] = *prompt.horizon;
    }
  }
  json["terminal"] = terminal;
  write_config(json, *this, InConfig::always);
  // Folders that older versions made know none of these.
  if (snapshot) json["snapshot"] = {{"revision", snapshot->commit}, {"digest", snapshot->digest}};
  if (chat) {
    json["chat_template"] = {{"sha256", chat->digest}, {"tested", chat->is_tested}};
    if (!chat->arguments.empty()) json["chat_template_kwargs"] = chat->arguments.object();
  }
  if (audit) {
    json["audit"] = {{"format", audit->format}};
    if (audit->model) json["audit"]["model"] = *audit->model;
  }
  if (rope_factors) json["rope_factors"] = name_of(*rope_factors);
  write_config(json, *this, InConfig::unless_default);
  return json;
}

SamplingSettings SamplingSettings::from_json(const nlohmann::json& json, const std::string& file) {
  const JsonObject config(json, file);
  std::vector<std::string_view> known = config_keys();
  known.insert(known.end(), {"model", "model_path", "arithmetic", "prompt", "prompts", "terminal",
                             "rope_factors", "prompt_horizon", "shard", "chat_template",
                             "chat_template_kwargs", "snapshot", "model_digest", "audit"});
  config.require_known(known);
  SamplingSettings settings;
  settings.model = config.text("model");
  settings.model_path = config.text("model_path");
  if (json.contains("model_digest")) {  // null for a model without a digest
    settings.foreign = ForeignArithmetic{config.text("arithmetic"), std::nullopt};
    if (!json.at("model_digest").is_null()) settings.foreign->digest = config.text("model_digest");
  } else {
    settings.arithmetic = read_arithmetic(config);
  }
  settings.terminal = tokens_of(config, "terminal");
  read_config(config, settings);
  sampler_named(settings.sampler, file + ", key \"sampler\"");
  settings.prompts = prompts_of(config, settings.horizon);
  if (config.has("snapshot")) {
    const JsonObject snapshot = config.object("snapshot");
    snapshot.only({"revision", "digest"});
    settings.snapshot = Snapshot{snapshot.text("revision"), snapshot.text("digest")};
  }
  if (config.has("audit")) {
    const JsonObject audit = config.object("audit");
    audit.only({"format", "model"});
    settings.audit =
        Audit{audit.whole_number("format", 0, std::numeric_limits<std::uint64_t>::max()),
              audit.optional_text("model")};
  }
  if (config.has("chat_template")) {
    const JsonObject chat = config.object("chat_template");
    chat.only({"sha256", "tested"});
    settings.chat = Chat{chat.text("sha256"), chat.boolean("tested"), {}};
    if (config.has("chat_template_kwargs"))
      settings.chat->arguments = ChatArguments::parse(config.at("chat_template_kwargs").dump(),
                                                      file + ", key \"chat_template_kwargs\"");
  }
  if (config.has("rope_factors")) {
    const std::string name = config.text("rope_factors");
    for (const RopeFactors factors : rope_factor_sets)
      if (name == name_of(factors)) settings.rope_factors = factors;
    if (!settings.rope_factors)
      throw BadInput(file, "key \"rope_factors\" is neither short nor long", "give one of the two");
  }
  return settings;
}

Plan SamplingSettings::plan() const {
  const Plan plan = SamplerSettings::plan();
  for (const SamplePrompt& prompt : prompts)
    if (prompt.horizon) {
      const std::string name = prompt.id ? "prompt " + in_quotes(*prompt.id) : "prompt";
      cut_at(plan, *prompt.horizon, name);
      require_room(*prompt.horizon, "an answer to the " + name);
    }
  return plan;
}

DrawSettings SamplingSettings::draw_settings() const {
  DrawSettings settings{Ladder(powers), plan(), terminal};
  settings.seed = seed;
  settings.samples = samples;
  settings.stop = stop;
  settings.options = options;
  return settings;
}

std::vector<Prompt> SamplingSettings::numbered_prompts() const {
  std::vector<Prompt> numbered;
  std::map<PromptNumber, const std::string*> taken;
  for (const SamplePrompt& prompt : prompts) {
    const PromptNumber number = prompt.id ? prompt_number(*prompt.id) : PromptNumber{};
    if (prompt.id) {
      const auto [entry, is_new] = taken.emplace(number, &*prompt.id);
      if (!is_new)
        throw BadInput("prompts",
                       "the ids " + in_quotes(*entry->second) + " and " + in_quotes(*prompt.id) +
                           " would share their draws",
                       "change one of the two");
    }
    numbered.push_back({prompt.tokens, number, prompt.horizon});
  }
  return numbered;
}

}  // namespace tempera::gpu
