#include "settings/resolve.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "gpu/llm/models/hub_model.hpp"
#include "gpu/llm/models/model_digest.hpp"
#include "gpu/llm/models/named_model.hpp"
#include "gpu/llm/text/token_limit.hpp"
#include "settings/defaults.hpp"
#include "settings/presets.hpp"
#include "settings/sampling_settings.hpp"

namespace tempera::gpu {
namespace {

/// The powers of a wish that gives none. preset: null if none is named.
std::vector<double> open_powers(const NamedSampler& sampler, const Preset* preset) {
  std::vector<double> ladder(defaults::powers.begin(), defaults::powers.end());
  if (preset != nullptr) ladder = preset->powers;
  if (sampler.powers == NamedSampler::Powers::ladder) return ladder;
  const bool base = sampler.powers == NamedSampler::Powers::base || sampler.name == "best-of-n";
  return {base ? 1.0 : ladder.back()};
}

/// The power 1/t of a temperature.
double power_of(double temperature, const std::string& where) {
  if (!(temperature > 0.0) || !std::isfinite(temperature))
    throw BadInput(where, "is not a number above 0",
                   "give one, such as 0.25 for the power 4; 0 would leave nothing to chance");
  require_power(1.0 / temperature, where);
  return 1.0 / temperature;
}

const NamedSampler& sampler_of(const SamplerWish& wish, Spelling spelling) {
  const std::string where = spelt("sampler", spelling);
  if (!wish.temperature)
    return sampler_named(wish.sampler.value_or(std::string(default_sampler)), where);
  const NamedSampler& sampler = sampler_named(wish.sampler.value_or("low-temperature"), where);
  const std::string temperature = spelt("temperature", spelling);
  if (sampler.name != "low-temperature")
    throw BadInput(temperature, "has no effect on the sampler " + std::string(sampler.name),
                   "give powers: the power 1/t does what the temperature t does");
  if (wish.powers)
    throw BadInput(temperature, "says the same as " + spelt("powers", spelling),
                   "give one of the two: the power is 1/t");
  return sampler;
}

/// Looks at the numbers that a program has said; flags and bodies were read so.
void check_ranges(const SamplerWish& wish, Spelling spelling) {
  visit_fields([&](const auto& row) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row.kind)>, field::Number>)
      in_range(member_of(wish, row.wish), row.kind, spelt(row.key, spelling));
  });
}

}  // namespace

void check_prefetch(const SamplerSettings& settings, Spelling spelling) {
  if (settings.options.prefetch == 0) return;
  const std::string where = spelt("prefetch", spelling);
  if (settings.options.prefetch > most_prefetch)
    throw BadInput(where,
                   std::to_string(settings.options.prefetch) + " moves are more than a batch",
                   "give at most " + std::to_string(most_prefetch));
  const std::string sampler = spelt("sampler", spelling);
  if (!sampler_named(settings.sampler, sampler).takes_local_moves)
    throw BadInput(where, "has no effect on the sampler " + settings.sampler,
                   "leave it out, or name another with " + sampler);
  const auto of_stage = [](const std::vector<std::size_t>& counts, std::size_t m) {
    if (counts.size() == 1) return counts.front();
    return m < counts.size() ? counts[m] : 0;  // what does not fit the stages is refused there
  };
  const std::size_t counted = std::max(settings.rounds.size(), settings.local_moves.size());
  for (std::size_t m = 0; m < counted; ++m)
    if (of_stage(settings.rounds, m) * of_stage(settings.local_moves, m) > 1) return;
  throw BadInput(where, "has no effect if no stage has two local moves of a rung",
                 "leave it out, or give " + spelt("rounds", spelling) + " 2 or more");
}

SamplerSettings resolve_sampler(const SamplerWish& wish, Spelling spelling) {
  const NamedSampler& sampler = sampler_of(wish, spelling);
  check_ranges(wish, spelling);
  refuse_without_effect(wish, sampler, spelling);
  const Preset* preset =
      wish.preset ? &preset_named(*wish.preset, spelt("preset", spelling)) : nullptr;
  SamplerSettings settings;
  if (wish.temperature)
    settings.powers = {power_of(*wish.temperature, spelt("temperature", spelling))};
  else
    settings.powers = open_powers(sampler, preset);
  settings.horizon = wish.horizon.value_or(preset != nullptr ? preset->horizon : defaults::horizon);
  settings.block = preset != nullptr ? preset->block : defaults::block(settings.horizon);
  settings.rounds = {preset != nullptr ? preset->rounds : defaults::rounds};
  settings.local_moves = {defaults::local_moves};
  settings.sweeps = {defaults::sweeps};
  if (!sampler.takes_moves) settings.rounds = settings.local_moves = {0};
  if (!sampler.takes_swaps) settings.sweeps = {0};
  if (sampler.takes_particles) settings.particles = defaults::particles;
  take_said(wish, settings);
  settings.sampler = sampler.name;
  if (preset != nullptr) settings.preset = preset->name;
  if (!wish.output_rung) settings.output = settings.powers.size();
  if (std::find(settings.stop.begin(), settings.stop.end(), "") != settings.stop.end())
    throw BadInput(spelt("stop", spelling), "has an empty text", "leave it out");
  check_prefetch(settings, spelling);
  settings.plan();
  return settings;
}

AskedHorizon asked_horizon(const SamplerWish& wish, const SamplerSettings& settings) {
  return {settings.horizon, wish.horizon.has_value(), wish.preset ? preset_margin : 0};
}

ResolvedPrompt resolve_prompt(const OpenedModel& model, const PromptWish& prompt,
                              const ChatArguments& arguments, const AskedHorizon& horizon,
                              const std::string& where) {
  ResolvedPrompt resolved;
  try {
    std::optional<TokenLimit> limit;
    if (model.positions() > 0) limit.emplace(model.positions());
    if (const auto* text = std::get_if<std::string>(&prompt))
      resolved.tokens = model.encode(*text, where);
    else if (const auto* messages = std::get_if<std::vector<ChatMessage>>(&prompt))
      resolved.tokens = model.encode_chat(*messages, arguments, where);
    else
      resolved.tokens = std::get<std::vector<TokenId>>(prompt);
  } catch (const TokenLimit::Exceeded&) {
    const std::string positions = std::to_string(model.positions());
    throw BadInput(where,
                   "more than " + positions + " prompt tokens exceed the " + positions +
                       " positions of the model",
                   "shorten the prompt");
  }
  if (!horizon.is_given)
    resolved.horizon =
        model.horizon_after(resolved.tokens.size(), horizon.margin, horizon.tokens, where);
  model.check_prompt(resolved.tokens, resolved.horizon.value_or(horizon.tokens), where);
  return resolved;
}

PackedWeights resolve_packed_weights(const std::string& asked, bool is_shard) {
  PackedWeights packed;
  if (!asked.empty()) {
    if (asked != "none") packed.folder = asked;
  } else if (is_shard) {
    packed.folder = packed_weights_folder();
    packed.least_bytes = std::uint64_t{64} << 20;
  }
  return packed;
}

void resolve_prompts(SamplingSettings& settings, const OpenedModel& model,
                     const std::vector<RunPrompt>& prompts, const ChatArguments& arguments,
                     const AskedHorizon& horizon) {
  for (const RunPrompt& prompt : prompts) {
    ResolvedPrompt resolved =
        resolve_prompt(model, prompt.prompt, arguments, horizon, prompt.where);
    settings.prompts.push_back({prompt.id, std::move(resolved.tokens), resolved.horizon});
  }
  const bool is_chat = std::any_of(prompts.begin(), prompts.end(), [](const RunPrompt& prompt) {
    return std::holds_alternative<std::vector<ChatMessage>>(prompt.prompt);
  });
  if (const auto format = is_chat ? model.text().chat_format() : std::nullopt)
    settings.chat = SamplingSettings::Chat{format->digest(), format->is_tested(), arguments};
  settings.arithmetic = model.arithmetic();
  settings.foreign = model.foreign();
  if (settings.foreign) {
    settings.model_path = "";  // an object of a program is at no place
  } else {
    std::error_code error;
    const auto path = std::filesystem::absolute(resolve_model(settings.model), error);
    settings.model_path = error ? settings.model : path.lexically_normal().string();
    if (const auto snapshot = find_snapshot(settings.model))
      settings.snapshot =
          SamplingSettings::Snapshot{snapshot->commit, model_digest(snapshot->path.string())};
  }
  if (settings.options.auditable)
    settings.audit = SamplingSettings::Audit{
        .model = settings.foreign ? settings.foreign->digest
                                  : std::optional(model_digest(settings.model_path))};
  settings.rope_factors = model.rope_factors();
  settings.terminal = model.terminal();
  settings.plan();
  settings.numbered_prompts();
}

SampleRequest resolve(const OpenedModel& model, const SampleWish& wish, Spelling spelling,
                      const std::string& where) {
  const SamplerSettings settings = resolve_sampler(wish.sampler, spelling);
  if (!wish.arguments.empty() && !std::holds_alternative<std::vector<ChatMessage>>(wish.prompt))
    throw BadInput(
        spelt(wish.arguments.says_thinking_alone() ? "thinking" : "chat_template_kwargs", spelling),
        "is about a conversation", "leave it out, or give messages");
  ResolvedPrompt prompt = resolve_prompt(model, wish.prompt, wish.arguments,
                                         asked_horizon(wish.sampler, settings), where);
  return settings.request(std::move(prompt.tokens),
                          wish.id ? prompt_number(*wish.id) : PromptNumber{}, prompt.horizon,
                          model.terminal(), where);
}

}  // namespace tempera::gpu
