#include <nlohmann/json.hpp>

#include "gpu/input/bad_input.hpp"
#include "gpu/runs/sampling.hpp"

namespace tempera::gpu {

nlohmann::ordered_json SamplingSettings::to_json() const {
  return {{"model", model},        {"prompt", prompt},
          {"terminal", terminal},  {"powers", powers},
          {"horizon", horizon},    {"block", block},
          {"rounds", rounds},      {"local_moves", local_moves},
          {"sweeps", sweeps},      {"schedule", schedule == Schedule::adj ? "adj" : "deo"},
          {"output_rung", output}, {"samples", samples},
          {"seed", seed}};
}

SamplingSettings SamplingSettings::from_json(const nlohmann::json& json, const std::string& file) {
  SamplingSettings settings;
  try {
    json.at("model").get_to(settings.model);
    json.at("prompt").get_to(settings.prompt);
    json.at("terminal").get_to(settings.terminal);
    json.at("powers").get_to(settings.powers);
    json.at("horizon").get_to(settings.horizon);
    json.at("block").get_to(settings.block);
    json.at("rounds").get_to(settings.rounds);
    json.at("local_moves").get_to(settings.local_moves);
    json.at("sweeps").get_to(settings.sweeps);
    const auto schedule = json.at("schedule").get<std::string>();
    if (schedule != "adj" && schedule != "deo")
      throw BadInput(file, "the schedule is neither adj nor deo",
                     "it was not written by tempera; start the run again");
    settings.schedule = schedule == "deo" ? Schedule::deo : Schedule::adj;
    json.at("output_rung").get_to(settings.output);
    json.at("samples").get_to(settings.samples);
    json.at("seed").get_to(settings.seed);
  } catch (const nlohmann::json::exception& error) {
    throw BadInput(file, error.what(), "it was not written by tempera; start the run again");
  }
  return settings;
}

Plan SamplingSettings::plan() const {
  const Ladder ladder(powers);
  if (output < 1 || output > ladder.rungs())
    throw BadInput("output rung", "is " + std::to_string(output),
                   "give one of the rungs 1 to " + std::to_string(ladder.rungs()));
  if (samples == 0) throw BadInput("samples", "is 0", "ask for at least 1");
  if (samples > addressable_samples)
    throw BadInput("samples", "is " + std::to_string(samples),
                   "ask for at most " + std::to_string(addressable_samples));
  return {make_stages(horizon, block, rounds, local_moves, sweeps), schedule, output - 1};
}

}  // namespace tempera::gpu
