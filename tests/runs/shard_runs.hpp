// Runs that are dealt to shards, for the tests of deals, claims and merges.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runs/deal.hpp"
#include "runs/merge.hpp"
#include "runs/shard_folder.hpp"
#include "tests/bad_input.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {

/// Five prompts of three answers; one has a horizon of its own.
inline SamplingSettings dealt_settings() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {7, 8, 9}}, {"b", {7}}, {"c", {4, 4}, 3}, {"d", {9, 9}}, {"e", {2}}};
  return settings;
}

/// A table that answers end at after one to five tokens.
inline TableModel dealt_model() { return scattered_table(11, 5); }

inline nlohmann::ordered_json config_of_shard(const SamplingSettings& settings, const Shard& shard,
                                              const std::string& version = "1",
                                              const std::string& model = "digest") {
  nlohmann::ordered_json config = settings.to_json();
  config["shard"] = ShardIdentity{shard, version, model}.to_json();
  return config;
}

/// Draws a shard to its end, as one process.
inline void draw_shard(LanguageModel& model, const SamplingSettings& settings,
                       const std::filesystem::path& run, const Shard& shard, Deal& deal,
                       const nlohmann::ordered_json& config) {
  ShardFolder folder(run, shard);
  RunFolder& opened = folder.open(config);
  if (opened.finished()) return;
  Job(model, settings, numbers_of, &opened, {}, {.checkpoint_seconds = 0.0}, &deal).run();
}

inline void draw_shard(LanguageModel& model, const SamplingSettings& settings,
                       const std::filesystem::path& run, const Shard& shard) {
  ListedRuns deal(dealt_runs(settings, shard.number, shard.of));
  draw_shard(model, settings, run, shard, deal, config_of_shard(settings, shard));
}

inline void draw_shards(LanguageModel& model, const SamplingSettings& settings,
                        const std::filesystem::path& run, std::size_t shards) {
  for (std::size_t number = 1; number <= shards; ++number)
    draw_shard(model, settings, run, {number, shards});
}

/// All bytes of a folder's files but speed.json, which is measured.
inline std::map<std::string, std::string> bytes_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename() != "speed.json")
      files[entry.path().filename()] = read_bytes(entry.path());
  return files;
}

}  // namespace tempera::gpu
