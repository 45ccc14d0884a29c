#include "gpu/session/sampling_settings.hpp"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "gpu/session/read_arithmetic.hpp"

namespace tempera::gpu {
namespace {

constexpr std::uint64_t any_token = std::numeric_limits<TokenId>::max();
constexpr std::uint64_t most_rounds = addressable_turns;

std::vector<TokenId> tokens_of(const JsonObject& config, const std::string& key) {
  const auto numbers = config.whole_numbers(key, 0, any_token);
  return {numbers.begin(), numbers.end()};
}

std::vector<std::size_t> counts_of(const JsonObject& config, const std::string& key) {
  const auto numbers = config.whole_numbers(key, 0, most_rounds);
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
  json["powers"] = powers;
  json["horizon"] = horizon;
  json["block"] = block;
  json["rounds"] = rounds;
  json["local_moves"] = local_moves;
  json["sweeps"] = sweeps;
  json["schedule"] = schedule == Schedule::adj ? "adj" : "deo";
  json["output_rung"] = output;
  json["samples"] = samples;
  json["seed"] = seed;
  // Folders that older versions made know none of these.
  if (snapshot) json["snapshot"] = {{"revision", snapshot->commit}, {"digest", snapshot->digest}};
  if (chat) {
    json["chat_template"] = {{"sha256", chat->digest}, {"tested", chat->is_tested}};
    if (!chat->arguments.empty()) json["chat_template_kwargs"] = chat->arguments.object();
  }
  if (rope_factors) json["rope_factors"] = name_of(*rope_factors);
  if (sampler != default_sampler) json["sampler"] = sampler;
  if (particles != 0) json["particles"] = particles;
  if (!restart_weights.empty()) json["restart_weights"] = restart_weights;
  if (restart_range == RestartRange::record) json["restart_range"] = "record";
  if (options.early_rejection) json["early_rejection"] = true;
  if (options.confidence) json["confidence"] = true;
  if (!stop.empty()) json["stop"] = stop;
  if (!preset.empty()) json["preset"] = preset;
  return json;
}

SamplingSettings SamplingSettings::from_json(const nlohmann::json& json, const std::string& file) {
  const JsonObject config(json, file);
  config.only({"model",
               "model_path",
               "arithmetic",
               "prompt",
               "prompts",
               "terminal",
               "powers",
               "horizon",
               "block",
               "rounds",
               "local_moves",
               "sweeps",
               "schedule",
               "output_rung",
               "samples",
               "seed",
               "sampler",
               "particles",
               "early_rejection",
               "confidence",
               "preset",
               "rope_factors",
               "restart_weights",
               "restart_range",
               "prompt_horizon",
               "stop",
               "shard",
               "chat_template",
               "chat_template_kwargs",
               "snapshot",
               "model_digest"});
  SamplingSettings settings;
  settings.model = config.text("model");
  settings.model_path = config.text("model_path");
  if (config.has("model_digest")) {
    settings.foreign = ForeignArithmetic{config.text("arithmetic"), std::nullopt};
    if (!json.at("model_digest").is_null()) settings.foreign->digest = config.text("model_digest");
  } else {
    settings.arithmetic = read_arithmetic(config);
  }
  settings.terminal = tokens_of(config, "terminal");
  settings.powers = config.positive_numbers("powers");
  settings.horizon = config.whole_number("horizon", 1, longest_horizon);
  settings.prompts = prompts_of(config, settings.horizon);
  settings.block = config.whole_number("block", 1, any_token);
  settings.rounds = counts_of(config, "rounds");
  settings.local_moves = counts_of(config, "local_moves");
  settings.sweeps = counts_of(config, "sweeps");
  const std::string schedule = config.text("schedule");
  if (schedule != "adj" && schedule != "deo")
    throw BadInput(file, "key \"schedule\" is neither adj nor deo", "give one of the two");
  settings.schedule = schedule == "deo" ? Schedule::deo : Schedule::adj;
  settings.output = config.whole_number("output_rung", 1, 65535);
  settings.samples = config.whole_number("samples", 1, addressable_samples);
  settings.seed = config.whole_number("seed", 0, std::numeric_limits<std::uint64_t>::max());
  if (config.has("snapshot")) {
    const JsonObject snapshot = config.object("snapshot");
    snapshot.only({"revision", "digest"});
    settings.snapshot = Snapshot{snapshot.text("revision"), snapshot.text("digest")};
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
  if (config.has("sampler")) settings.sampler = config.text("sampler");
  sampler_named(settings.sampler, file + ", key \"sampler\"");
  if (config.has("particles"))
    settings.particles = config.whole_number("particles", 1, most_particles);
  if (config.has("restart_weights"))
    settings.restart_weights = config.whole_numbers("restart_weights", 0, largest_restart_weight);
  if (config.has("restart_range")) {
    const std::string range = config.text("restart_range");
    if (range != "horizon" && range != "record")
      throw BadInput(file, "key \"restart_range\" is neither horizon nor record",
                     "give one of the two");
    settings.restart_range = range == "record" ? RestartRange::record : RestartRange::horizon;
  }
  if (config.has("early_rejection"))
    settings.options.early_rejection = config.boolean("early_rejection");
  if (config.has("confidence")) settings.options.confidence = config.boolean("confidence");
  if (config.has("stop"))
    for (const auto& text : config.array("stop")) {
      const nlohmann::json whole{{"stop", text}};
      settings.stop.push_back(JsonObject(whole, file).text("stop"));
    }
  if (config.has("preset")) settings.preset = config.text("preset");
  return settings;
}

Plan SamplingSettings::plan() const {
  const Plan plan = SamplerSettings::plan();
  for (const SamplePrompt& prompt : prompts)
    if (prompt.horizon)
      cut_at(plan, *prompt.horizon, prompt.id ? "prompt " + in_quotes(*prompt.id) : "prompt");
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
