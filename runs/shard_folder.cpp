#include "runs/shard_folder.hpp"

#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "runs/merge.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

void require_same_number(const fs::path& run, const Shard& shard) {
  for (const Shard& there : shards_in(run))
    if (there.of != shard.of)
      throw BadInput(run.string(),
                     "was dealt to " + std::to_string(there.of) + " shards, and not to " +
                         std::to_string(shard.of),
                     "keep to " + std::to_string(there.of) + ", or choose another folder");
}

/// config.json of another shard that has begun, and where it is.
std::optional<fs::path> other_config(const fs::path& run, const Shard& shard) {
  for (const Shard& there : shards_in(run)) {
    const fs::path file = run / there.folder_name() / "config.json";
    if (!(there == shard) && is_there(file)) return file;
  }
  return std::nullopt;
}

}  // namespace

ShardFolder::ShardFolder(fs::path run, const Shard& shard,
                         const std::function<void(const std::string&)>& say, ClaimTimes times)
    : run_(std::move(run)), shard_(shard), path_(run_ / shard.folder_name()) {
  require_same_number(run_, shard_);
  if (is_there(path_ / "summary.json")) return;
  claim_.emplace(run_, shard_, say, std::move(times));
  disk_.emplace(*claim_);
}

nlohmann::ordered_json ShardFolder::config() const {
  const fs::path own = path_ / "config.json";
  const auto file = is_there(own) ? std::optional(own) : other_config(run_, shard_);
  if (!file)
    throw BadInput(
        run_.string(), "holds no shard that has begun",
        "begin it with --out " + as_shell_word(run_.string()) + " and the model and prompts");
  const std::string text = read_whole(*file);
  parse_json(text, file->string());
  auto config = nlohmann::ordered_json::parse(text);
  if (config.contains("shard") && config["shard"].is_object())
    config["shard"]["number"] = shard_.number;
  return config;
}

RunFolder& ShardFolder::open(const nlohmann::ordered_json& config) {
  const std::string here = "shard " + shard_.text();
  const fs::path own = path_ / "config.json";
  const bool has_begun = is_there(own);
  const auto other = has_begun ? std::optional(own) : other_config(run_, shard_);
  if (other) require_same_run(config, here, read_json_file(*other), other->string());
  // Two that begin at once see each other's folder here; the merge would refuse them too.
  require_same_number(run_, shard_);
  Disk& disk = disk_ ? static_cast<Disk&>(*disk_) : Disk::real();
  folder_ = has_begun ? RunFolder::open(path_, disk) : RunFolder::create(path_, config, disk);
  return *folder_;
}

bool wait_for_shards(const fs::path& run, std::size_t shards, std::chrono::milliseconds patience,
                     const std::function<bool()>& stop) {
  using std::chrono::steady_clock;
  for (std::size_t number = 1; number <= shards; ++number) {
    const Shard shard{number, shards};
    ShardClaim::Seen seen = ShardClaim::look(run, shard);
    auto since = steady_clock::now();
    while (!is_there(run / shard.folder_name() / "summary.json")) {
      if (stop()) return false;
      const ShardClaim::Seen now = ShardClaim::look(run, shard);
      if (!(now == seen)) since = steady_clock::now();
      seen = now;
      // A process that has ended may be followed by one that begins as late as this one ends.
      const auto most = now.has_ended ? patience / 3 : patience;
      if (steady_clock::now() - since > most)
        throw BadInput((run / shard.folder_name()).string(), "was left unfinished",
                       "go on with: " + command_for(run, number, shards) + ", then tempera merge " +
                           as_shell_word(run.string()));
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
  }
  return true;
}

}  // namespace tempera::gpu
