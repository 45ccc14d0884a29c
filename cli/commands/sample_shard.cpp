#include "cli/commands/sample_shard.hpp"

#include <iostream>
#include <vector>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "cli/terminal/interruption.hpp"
#include "cli/terminal/version.hpp"
#include "gpu/llm/models/model_digest.hpp"
#include "gpu/llm/models/named_model.hpp"
#include "runs/merge.hpp"
#include "runs/part_line.hpp"
#include "runs/shard_environment.hpp"

namespace tempera::cli {
namespace {

namespace fs = std::filesystem;

void say(const std::string& text) { std::cerr << "tempera: " << text << '\n'; }

/// "RUN/" as "RUN".
fs::path without_last_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

/// The shard whose folder this is, if it is one.
std::optional<gpu::Shard> shard_of(const fs::path& folder) {
  const fs::path file = folder / "config.json";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  // What else is wrong with the file is for its reader to say.
  const auto config = nlohmann::json::parse(read_whole(file), nullptr, false);
  if (!config.is_object() || !config.contains("shard")) return std::nullopt;
  return gpu::ShardIdentity::from_config(config, file.string())->shard;
}

struct Found {
  fs::path run;
  gpu::Shard shard;
  bool are_ranks = false;
};

/// The shard by --shard or by the environment; `needs_one` says that a folder of shards is resumed.
std::optional<Found> found_for(const fs::path& run, const std::string& shard, bool needs_one) {
  if (!shard.empty()) return Found{run, gpu::read_shard(shard, "--shard")};
  if (const auto launched = gpu::launched_shard()) {
    say("draws shard " + launched->shard.text() + " into " + run.string() + " (" + launched->said +
        "); --shard says otherwise");
    return Found{run, launched->shard, launched->are_ranks};
  }
  if (needs_one)
    throw BadInput(run.string(), "holds shards of a run",
                   "say which to resume, with --shard I/N, or name its folder");
  return std::nullopt;
}

std::optional<Found> found(const SampleShard::Asked& asked) {
  if (asked.shard == "none") return std::nullopt;
  if (!asked.resume.empty()) {
    const fs::path folder = without_last_slash(asked.resume);
    if (const auto shard = shard_of(folder)) {
      if (!asked.shard.empty() && !(gpu::read_shard(asked.shard, "--shard") == *shard))
        throw BadInput("--shard",
                       "is " + asked.shard + ", and the folder is shard " + shard->text(),
                       "leave it out, or give the run's folder");
      const fs::path above = folder.parent_path();
      return Found{above.empty() ? fs::path(".") : above, *shard};
    }
    std::error_code error;
    if (!fs::is_directory(folder, error) || gpu::shards_in(folder).empty()) {
      if (!asked.shard.empty())
        throw BadInput(asked.resume, "holds no shard",
                       "leave --shard out, or give the folder of a run that was dealt");
      return std::nullopt;
    }
    return found_for(folder, asked.shard, true);
  }
  if (!asked.out.empty()) return found_for(without_last_slash(asked.out), asked.shard, false);
  if (!asked.shard.empty())
    throw BadInput("--shard", "has no effect without --out",
                   "give the run's folder, which all shards share, with --out FOLDER");
  return std::nullopt;
}

}  // namespace

fs::path merged_folder(const fs::path& run) { return run / "merged"; }

std::unique_ptr<SampleShard> SampleShard::asked(const Asked& asked) {
  const auto where = found(asked);
  if (!where) return nullptr;
  return std::unique_ptr<SampleShard>(new SampleShard(where->run, where->shard, where->are_ranks));
}

SampleShard::SampleShard(fs::path run, const gpu::Shard& shard, bool are_ranks)
    : run_(std::move(run)),
      shard_(shard),
      are_ranks_(are_ranks),
      folder_(std::make_unique<gpu::ShardFolder>(run_, shard_, say)) {}

SampleShard::~SampleShard() = default;

gpu::RunFolder& SampleShard::open(const nlohmann::ordered_json& config,
                                  const std::string& model_path) {
  gpu::ShardIdentity identity{shard_, version_of_bits(), gpu::model_digest(model_path)};
  nlohmann::ordered_json of_shard = gpu::whole_config(config);
  of_shard["shard"] = identity.to_json();
  opened_ = &folder_->open(of_shard);
  return *opened_;
}

gpu::Deal& SampleShard::deal(const gpu::SamplingSettings& settings) {
  deal_ = std::make_unique<gpu::ListedRuns>(gpu::dealt_runs(settings, shard_.number, shard_.of));
  return *deal_;
}

void SampleShard::end() {
  folder_.reset();
  if (are_ranks_ && shard_.number == 1 &&
      gpu::wait_for_shards(run_, shard_.of, patience_with_ranks, NotedInterrupts::any)) {
    const gpu::MergedRun merged = gpu::merge_shards(run_, merged_folder(run_));
    say("all " + std::to_string(merged.shards) + " shards are in " + merged.folder.string());
  }
}

}  // namespace tempera::cli
