#include "settings/presets.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/command.hpp"
#include "cli/terminal/columns.hpp"
#include "settings/field_json.hpp"

namespace tempera::cli {
namespace {

constexpr const char* presets_examples = R"(Examples:
  tempera presets
  tempera sample --preset qwen3/math500 --model Qwen3-8B \
    --chat --prompts math500.jsonl --out run)";

std::string text_of(const nlohmann::ordered_json& open) {
  if (open.is_null()) return "-";
  if (open.is_array()) return decimals_of(open.get<std::vector<double>>());
  return open.is_string() ? open.get<std::string>() : open.dump();
}

/// What may be asked of a sampler, and what each sampler takes.
void list_settings(bool json) {
  const nlohmann::ordered_json all = gpu::describe_settings();
  if (json) {
    std::cout << all.dump() << '\n';
    return;
  }
  std::printf("%-18s %-20s %s\n", "setting", "default", "samplers that take it");
  for (const auto& setting : all["settings"]) {
    std::string names;
    std::size_t count = 0;
    for (const auto& sampler : all["samplers"]) {
      const auto& taken = sampler["takes"];
      if (std::find(taken.begin(), taken.end(), setting["key"]) == taken.end()) continue;
      names += (names.empty() ? "" : ", ") + sampler["name"].get<std::string>();
      ++count;
    }
    std::printf("%-18s %-20s %s\n", setting["flag"].get<std::string>().c_str(),
                text_of(setting["default"]).c_str(),
                count == all["samplers"].size() ? "all" : names.c_str());
  }
}

void list(bool json) {
  if (json) {
    auto all = nlohmann::ordered_json::array();
    for (const gpu::Preset& preset : gpu::presets())
      all.push_back({{"name", preset.name},
                     {"other_names", gpu::other_names(preset)},
                     {"models", preset.models},
                     {"benchmark", preset.benchmark},
                     {"powers", preset.powers},
                     {"horizon", preset.horizon},
                     {"block", preset.block},
                     {"rounds", preset.rounds},
                     {"local_moves", 1},
                     {"sweeps", 1},
                     {"schedule", gpu::name_of(gpu::Schedule::adj)},
                     {"output_rung", preset.powers.size()}});
    std::cout << all.dump() << '\n';
    return;
  }
  std::printf("%-22s %-17s %-19s %-21s %6s %6s %s\n", "name", "benchmark", "models", "powers", "T",
              "B", "N");
  for (const gpu::Preset& preset : gpu::presets())
    std::printf("%-22s %-17s %-19s %-21s %6zu %6zu %zu\n", std::string(preset.name).c_str(),
                std::string(preset.benchmark).c_str(), std::string(preset.models).c_str(),
                decimals_of(preset.powers).c_str(), preset.horizon, preset.block, preset.rounds);
  std::printf(
      "T: horizon; B: block; N: rounds of one local move of each rung and one ordered sweep. The\n"
      "answer is the last rung's. Where prompt, T and 64 tokens exceed the model's context, T is\n"
      "what fits. An option of tempera sample overrides the preset's value. A preset is also "
      "called\n"
      "by each of its models: qwen3-8b/math500 is qwen3/math500.\n"
      "For its Qwen2.5-Math experiments the paper's text gives T = 3072 and raw prompts, but no\n"
      "powers, B or N, so that there is no preset: --horizon 3072, without --chat, and a ladder "
      "of\n"
      "your own (tempera ladder).\n");
}

}  // namespace

void add_presets(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "presets", "The paper's hyper-parameters, which tempera sample --preset NAME takes");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print the values of each as a JSON list");
  auto settings = std::make_shared<bool>(false);
  command->add_flag("--settings", *settings,
                    "Instead, list the settings of samplers, their defaults and which sampler "
                    "takes which");
  command->footer(presets_examples);
  command->callback([=] { *settings ? list_settings(*json) : list(*json); });
}

}  // namespace tempera::cli
