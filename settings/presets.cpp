#include "settings/presets.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/lower_case.hpp"
#include "base/nearest_name.hpp"

namespace tempera::gpu {

std::span<const Preset> presets() {
  constexpr std::string_view qwen3 = "Qwen3-4B, Qwen3-8B";
  constexpr std::string_view qwen35 = "Qwen3.5-9B";
  static const std::vector<Preset> all{
      {"qwen3/math500", qwen3, "MATH500", {2.35, 2.5, 2.7, 2.9}, 8192, 4096, 10},
      {"qwen3/aime", qwen3, "AIME 24&25", {1.8, 1.95, 2.15, 2.4}, 32768, 8192, 10},
      {"qwen3/gpqa", qwen3, "GPQA-Diamond", {1.15, 1.3, 1.5}, 16384, 4096, 6},
      {"qwen3/livecodebench", qwen3, "LiveCodeBench v5", {1.8, 2.0, 2.2, 2.4}, 8192, 2048, 8},
      {"qwen3/humaneval", qwen3, "HumanEval", {1.5, 1.6, 1.8}, 4096, 2048, 20},
      {"qwen3/gsm8k", qwen3, "GSM8K", {2.0, 2.3, 2.6, 3.0, 3.5, 4.0}, 3072, 192, 10},
      {"qwen3.5/gpqa", qwen35, "GPQA-Diamond", {1.05, 1.10, 1.25}, 131072, 131072, 10},
      {"qwen3.5/aime", qwen35, "AIME 24&25", {1.25, 1.4, 1.6}, 65536, 65536, 5},
      {"qwen3.5/livecodebench", qwen35, "LiveCodeBench v5", {1.1, 1.25, 1.4}, 131072, 131072, 5},
  };
  return all;
}

std::vector<std::string> other_names(const Preset& preset) {
  constexpr std::string_view between = ", ";
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < preset.models.size();) {
    const std::size_t end = std::min(preset.models.find(between, begin), preset.models.size());
    names.push_back(in_lower_case(preset.models.substr(begin, end - begin)) +
                    std::string(preset.name.substr(preset.name.find('/'))));
    begin = end + between.size();
  }
  return names;
}

const Preset* find_preset(std::string_view name) {
  const std::string small = in_lower_case(name);
  for (const Preset& preset : presets()) {
    const std::vector<std::string> others = other_names(preset);
    if (preset.name == small || std::find(others.begin(), others.end(), small) != others.end())
      return &preset;
  }
  return nullptr;
}

std::string nearest_presets(std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> parts;
  for (const Preset& preset : presets()) {
    const std::size_t slash = preset.name.find('/');
    names.push_back(preset.name);
    parts.push_back(preset.name.substr(0, slash));
    parts.push_back(preset.name.substr(slash + 1));
  }
  std::vector<std::string> all(names.begin(), names.end());
  for (const Preset& preset : presets())
    for (std::string& other : other_names(preset)) all.push_back(std::move(other));
  if (const auto nearest = nearest_name(std::string(name), all)) return *nearest;
  const auto nearest = nearest_name(name, parts);
  std::string list;
  for (std::size_t i = 0; nearest && i < names.size(); ++i)
    if (parts[2 * i] == *nearest || parts[2 * i + 1] == *nearest)
      list += (list.empty() ? "" : " or ") + std::string(names[i]);
  return list;
}

const Preset& preset_named(std::string_view name, const std::string& where) {
  if (const Preset* preset = find_preset(name)) return *preset;
  const std::string nearest = nearest_presets(name);
  throw BadInput(where, in_quotes(std::string(name)) + " is unknown",
                 nearest.empty() ? "tempera presets lists them" : "did you mean " + nearest + "?");
}

}  // namespace tempera::gpu
