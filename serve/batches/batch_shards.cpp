#include "serve/batches/batch_shards.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "gpu/jobs/deal.hpp"

namespace tempera::serve {
namespace {

/// What a line is expected to take, compared with others of its batch: the tokens that it asks for.
/// A line that asks for nothing that can be counted is refused, which takes no time.
double tokens_asked_for(std::string_view line, const std::string& endpoint) {
  try {
    const std::string text = read_batch_line(line, endpoint).body;
    const nlohmann::json body = parse_json(text, "body");
    const JsonObject asked(body, "body");
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
  return gpu::ShardIdentity{shard, gpu::Dealing::before, makings.identity.fingerprint,
                            makings.model_digest}
      .to_json();
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

std::vector<std::vector<std::size_t>> deal(const std::vector<std::string_view>& lines,
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
