#include "serve/sessions/resolved_generation.hpp"

#include <algorithm>

#include "base/bad_input_parts.hpp"
#include "gpu/session/cost.hpp"
#include "settings/field_json.hpp"

namespace tempera::serve {

std::string Identity::without_paths(std::string message) const {
  for (const auto& [path, name] : hidden_paths)
    for (auto at = message.find(path); at != std::string::npos;
         at = message.find(path, at + name.size()))
      message.replace(at, path.size(), name);
  return message;
}

namespace {

/// Refuses what all choices of a request cost together.
void require_affordable(const ResolvedGeneration& resolved) {
  std::size_t records = 0;
  std::size_t rungs = 0;
  double cost = 0.0;
  for (const gpu::SampleRequest& request : resolved.requests) {
    const std::size_t replicas = request.plan.replicas(request.ladder);
    rungs = std::max(rungs, request.ladder.rungs());
    records += request.samples * replicas;
    cost += static_cast<double>(request.samples) * gpu::cost_of(request.plan, replicas);
  }
  if (records > most_records)
    throw BadInput("the cost", "the choices have " + std::to_string(records) + " records together",
                   "ask for at most " + std::to_string(most_records) +
                       ": fewer choices, prompts, powers or particles");
  if (cost > gpu::most_cost)
    throw BadInput("the cost", "the request can take more than 2^40 tokens and swaps",
                   "lower n, the rounds, the local moves, the powers or max_tokens");
  require_few_powers(rungs, "powers");
}

/// The field of what settings call so, as commands do too; empty if it is none.
std::string field_of_setting(std::string_view name, const GenerationRequest& asked) {
  const std::pair<std::string_view, std::string_view> others[] = {
      {"restart weights and range", "tempera.restart_weights"},
      {"local moves and sweeps", "tempera.local_moves"},
      {"enable_thinking", asked.thinking_field},
      {"samples", "n"}};
  for (const auto& [other, field] : others)
    if (name == other) return std::string(field);
  std::string key(name);
  std::replace(key.begin(), key.end(), ' ', '_');
  const auto beside = gpu::body_keys(&gpu::Places::beside);
  if (std::find(beside.begin(), beside.end(), key) != beside.end()) return key;
  const auto keys = gpu::body_keys();
  return std::find(keys.begin(), keys.end(), key) == keys.end() ? "" : "tempera." + key;
}

/// A refusal of settings, which names the field of the body instead of the setting.
BadInput named_by_field(const BadInput& error, const GenerationRequest& asked) {
  const std::string message = error.what();
  const auto parts = bad_input_parts(message);
  if (!parts) return error;
  const auto place = std::min(parts->where.find_first_of(":,"), parts->where.size());
  const std::string field = field_of_setting(parts->where.substr(0, place), asked);
  if (field.empty()) return error;
  return {field + std::string(parts->where.substr(place)), std::string(parts->fault),
          std::string(parts->remedy)};
}

/// Resolves all prompts of what was asked for.
void resolve_wishes(const gpu::OpenedModel& model, const std::string& where,
                    ResolvedGeneration& resolved) {
  const GenerationRequest& asked = resolved.asked;
  for (const gpu::SampleWish& wish : asked.wishes) {
    const gpu::SamplerSettings& settings =
        resolved.settings.emplace_back(gpu::resolve_sampler(wish.sampler));
    resolved.settings.back().options.auditable = asked.audit;
    gpu::AskedHorizon horizon = gpu::asked_horizon(wish.sampler, settings);
    if (asked.is_horizon_open) horizon.is_given = false;
    auto prompt = gpu::resolve_prompt(model, wish.prompt, wish.arguments, horizon, where);
    const auto number = wish.id ? gpu::prompt_number(*wish.id) : gpu::PromptNumber{};
    resolved.requests.push_back(settings.request(std::move(prompt.tokens), number, prompt.horizon,
                                                 model.terminal(), where));
  }
}

}  // namespace

void require_model(const std::string& named, const Identity& identity) {
  if (!named.empty() && asked_model(named).model != identity.model)
    throw OtherModel("model", "this server offers the model \"" + identity.model + "\" alone",
                     "ask for that one");
}

ResolvedGeneration resolve_generation(const gpu::OpenedModel& model, const Identity& identity,
                                      std::string_view body, BodyForm form,
                                      const GenerationLimits& limits,
                                      std::optional<std::uint64_t> seed) {
  ResolvedGeneration resolved{read_generation_request(body, form, limits, seed), {}, {}};
  const GenerationRequest& asked = resolved.asked;
  require_model(asked.model, identity);
  if (asked.audit && asked.wishes.size() != 1)
    throw BadInput("tempera.audit",
                   "the request has " + std::to_string(asked.wishes.size()) + " prompts",
                   "ask for the audit of one prompt at a time");
  const std::string where = form == BodyForm::completion ? "prompt"
                            : form == BodyForm::chat     ? "messages"
                                                         : "input";
  try {
    resolve_wishes(model, where, resolved);
    require_affordable(resolved);
  } catch (const BadInput& error) {
    throw named_by_field(error, asked);
  }
  return resolved;
}

}  // namespace tempera::serve
