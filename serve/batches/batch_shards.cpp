#include "serve/batches/batch_shards.hpp"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/held_json.hpp"
#include "base/json_document.hpp"
#include "runs/deal.hpp"
#include "serve/batches/batch.hpp"
#include "serve/batches/batch_run.hpp"

namespace tempera::serve {
namespace {

/// What a line is expected to take, compared with others of its batch: the tokens that it asks for.
/// A line that asks for nothing that can be counted is refused, which takes no time.
double tokens_asked_for(const InputLine& line, const std::string& endpoint) {
  try {
    const std::string text = read_batch_line(line, endpoint).body;
    const HeldJson body = parse_json(text, "body");
    const JsonObject asked(*body, "body");
    const auto number = [&](const char* key, std::uint64_t otherwise) {
      constexpr auto most = std::numeric_limits<std::uint64_t>::max();
      return static_cast<double>(asked.has(key) ? asked.whole_number(key, 0, most) : otherwise);
    };
    const char* const key =
        asked.has("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
    return number("n", 1) * number(key, 16);
  } catch (const BadInput&) {
    return 0.0;
  }
}

}  // namespace

nlohmann::ordered_json identity_of(const gpu::Shard& shard, const GenerationMakings& makings) {
  return gpu::ShardIdentity{shard, makings.identity.fingerprint, makings.model_digest}.to_json();
}

gpu::RunFolder open_shard(const std::filesystem::path& batch, const gpu::Shard& shard,
                          const GenerationMakings& makings, Disk& disk) {
  if (shard.number == 1) return gpu::RunFolder::open(batch, disk);
  const std::filesystem::path own = batch / shard.folder_name();
  if (is_there(own / "config.json")) return gpu::RunFolder::open(own, disk);
  auto config = nlohmann::ordered_json::parse(read_whole(batch / "config.json"));
  config["shard"] = identity_of(shard, makings);
  return gpu::RunFolder::create(own, config, disk);
}

AnswersElsewhere::Count AnswersElsewhere::look(const std::set<std::size_t>& taken) {
  const auto time = std::chrono::steady_clock::now();
  const bool is_due = time >= look_at_;
  if (is_due) look_at_ = time + until_look_;
  Count all;
  for (std::size_t number = 1; number <= own_.of; ++number) {
    if (number == own_.number || taken.contains(number)) continue;
    Counted& counted = shards_[number];
    const auto folder = gpu::Shard{number, own_.of}.folder_name();
    if (is_due) read(batch_ / folder / "samples.jsonl", counted);
    all.completed += counted.count.completed;
    all.failed += counted.count.failed;
  }
  return all;
}

void AnswersElsewhere::read(const std::filesystem::path& file, Counted& counted) const {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return;
  // A server that was killed takes its file back to the last checkpoint.
  if (static_cast<std::uint64_t>(in.tellg()) < counted.bytes) counted = {};
  in.seekg(static_cast<std::streamoff>(counted.bytes));
  // A line that its server is writing has no end yet.
  for (std::string line; std::getline(in, line) && !in.eof();) {
    counted.bytes += line.size() + 1;
    const auto answer = nlohmann::json::parse(line, nullptr, false);
    const auto status = nlohmann::json::json_pointer("/response/status_code");
    ++(answer.is_object() && answer.value(status, 0) == 200 ? counted.count.completed
                                                            : counted.count.failed);
  }
}

std::vector<std::vector<std::size_t>> deal(const std::vector<InputLine>& lines,
                                           const std::string& endpoint, std::size_t shards) {
  std::vector<double> costs(lines.size());
  if (shards > 1)
    for (std::size_t line = 0; line < lines.size(); ++line)
      costs[line] = tokens_asked_for(lines[line], endpoint);
  const std::vector<std::size_t> shard_of = gpu::deal_by_cost(costs, shards);
  std::vector<std::vector<std::size_t>> dealt(shards);
  for (std::size_t line = 0; line < lines.size(); ++line) dealt[shard_of[line]].push_back(line);
  return dealt;
}

}  // namespace tempera::serve
