#include "runs/ladders/resolve_ladder.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "gpu/session/defaults.hpp"
#include "gpu/session/prompt_number.hpp"

namespace tempera::gpu {

ResolvedLadder resolve_ladder(const LadderWish& wish, const OpenedModel& model,
                              const std::vector<RunPrompt>& prompts, const ChatArguments& arguments,
                              Spelling spelling) {
  const AskedHorizon horizon{wish.horizon.value_or(defaults::horizon), wish.horizon.has_value()};
  if (horizon.tokens == 0)
    throw BadInput(spelt("horizon", spelling), "is 0", "give at least 1 token");
  geometric_ladder(wish.from, wish.to, wish.replicas);  // or is refused now
  ResolvedLadder resolved;
  resolved.horizon = horizon.tokens;
  for (const RunPrompt& prompt : prompts) {
    ResolvedPrompt own = resolve_prompt(model, prompt.prompt, arguments, horizon, prompt.where);
    resolved.prompts.push_back({std::move(own.tokens),
                                prompt.id ? prompt_number(*prompt.id) : PromptNumber{},
                                own.horizon});
  }
  CalibrationSettings& settings = resolved.settings;
  settings.from = wish.from;
  settings.to = wish.to;
  settings.replicas = wish.replicas;
  settings.terminal = model.terminal();
  settings.seed = wish.seed;
  settings.samples = wish.samples.value_or(defaults::samples);
  settings.pilots = wish.pilots.value_or(defaults::pilots);
  settings.session = wish.session;
  if (wish.times_schedules && settings.pilots + 2 > addressable_pilots)
    throw BadInput(spelt("time_schedules", spelling), "takes two pilots more than there may be",
                   "give fewer " + spelt("pilots", spelling));
  const std::size_t block = wish.block.value_or(defaults::block(horizon.tokens));
  // What a run takes: no more weights than its first stage has positions.
  settings.restart_parts = std::min(settings.restart_parts, block);
  settings.plan = {
      make_stages(horizon.tokens, block, {wish.rounds.value_or(defaults::pilot_rounds)},
                  {defaults::local_moves}, {defaults::sweeps}),
      Schedule::adj, wish.replicas - 1};
  return resolved;
}

const char* name_of(CalibrationEnd end) {
  switch (end) {
    case CalibrationEnd::equal:
      return "equal";
    case CalibrationEnd::same:
      return "same";
    case CalibrationEnd::exhausted:
      return "exhausted";
  }
  return "";
}

}  // namespace tempera::gpu
