#include "serve/sessions/resolved_generation.hpp"

namespace tempera::serve {

std::string Identity::without_paths(std::string message) const {
  for (const auto& [path, name] : hidden_paths)
    for (auto at = message.find(path); at != std::string::npos;
         at = message.find(path, at + name.size()))
      message.replace(at, path.size(), name);
  return message;
}

void require_model(const std::string& named, const Identity& identity) {
  if (!named.empty() && named != identity.model)
    throw OtherModel("model", "this server offers the model \"" + identity.model + "\" alone",
                     "ask for that one");
}

ResolvedGeneration resolve_generation(const gpu::OpenedModel& model, const Identity& identity,
                                      std::string_view body, bool is_chat,
                                      const GenerationLimits& limits,
                                      std::optional<std::uint64_t> seed) {
  ResolvedGeneration resolved{read_generation_request(body, is_chat, limits, seed), {}, {}};
  const GenerationRequest& asked = resolved.asked;
  require_model(asked.model, identity);
  const std::string where = is_chat ? "messages" : "prompt";
  for (const gpu::SampleWish& wish : asked.wishes) {
    const gpu::SamplerSettings& settings =
        resolved.settings.emplace_back(gpu::resolve_sampler(wish.sampler));
    gpu::AskedHorizon horizon = gpu::asked_horizon(wish.sampler, settings);
    if (asked.is_horizon_open) horizon.is_given = false;
    auto prompt = gpu::resolve_prompt(model, wish.prompt, wish.thinking, horizon, where);
    const auto number = wish.id ? gpu::prompt_number(*wish.id) : gpu::PromptNumber{};
    resolved.requests.push_back(settings.request(std::move(prompt.tokens), number, prompt.horizon,
                                                 model.terminal(), where));
  }
  return resolved;
}

}  // namespace tempera::serve
