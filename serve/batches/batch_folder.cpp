#include "serve/batches/batch_folder.hpp"

#include <cstdint>
#include <limits>

#include "base/json_document.hpp"
#include "serve/protocol/fresh_id.hpp"

namespace tempera::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

}  // namespace

void create_batch_folder(const std::filesystem::path& folder, const Batch& batch,
                         std::size_t shards, Disk& disk) {
  ordered_json config = to_json(batch);
  if (shards > 1) config["shards"] = shards;
  // Lines without a seed draw with numbers that follow one fresh number.
  config["seed"] = std::stoull(fresh_id("").substr(0, 13), nullptr, 16);
  gpu::RunFolder::create(folder, config, disk);
}

Batch read_batch(const gpu::RunFolder& folder) {
  constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
  const std::string where = (folder.path() / "config.json").string();
  const json config = folder.config();
  const JsonObject object(config, where);
  Batch batch{.id = object.text("id"),
              .endpoint = object.text("endpoint"),
              .input_file = object.text("input_file_id")};
  batch.created = static_cast<std::int64_t>(object.whole_number("created_at", 0, any_number >> 1));
  batch.total = object.object("request_counts").whole_number("total", 0, any_number);
  batch.metadata = object.has("metadata") ? ordered_json::parse(object.at("metadata").dump())
                                          : ordered_json(nullptr);
  if (!folder.finished()) return batch;
  const json summary = json::parse(folder.summary().dump());
  const JsonObject end(summary, (folder.path() / "summary.json").string());
  batch.status = end.text("status");
  batch.output_file = end.optional_text("output_file_id").value_or("");
  batch.error_file = end.optional_text("error_file_id").value_or("");
  batch.ended = static_cast<std::int64_t>(end.whole_number("ended_at", 0, any_number >> 1));
  batch.completed = end.whole_number("completed", 0, any_number);
  batch.failed = end.whole_number("failed", 0, any_number);
  return batch;
}

}  // namespace tempera::serve
