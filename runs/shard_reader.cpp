#include "runs/shard_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "runs/shard.hpp"

namespace tempera::gpu {

ShardReader::ShardReader(std::filesystem::path folder, std::size_t window)
    : folder_(std::move(folder)),
      name_((folder_ / "parts.jsonl").string()),
      parts_(folder_ / "parts.jsonl", window),
      events_(folder_ / "events.jsonl", window),
      samples_(folder_ / "samples.jsonl", window) {}

void ShardReader::check(const RunFolder& folder, const nlohmann::json& config,
                        const std::string& config_name, HeldRuns& held) {
  require_same_run(folder.config(), (folder_ / "config.json").string(), config, config_name);
  speed_ = folder.speed();
  runs_ = held.runs();
  bool is_ascending = true;
  std::optional<std::size_t> before;
  Offsets at;
  folder.for_each_part([&](const std::string& line, const LinePlace& where) {
    const Part part = part_of(line, runs_, where);
    if (!held.mark(part.run_index))
      throw BadInput(where.text(),
                     "is an answer that another shard holds too (place " +
                         std::to_string(part.run_index + 1) + ")",
                     remedy_for(name_));
    is_ascending = is_ascending && (!before || *before < part.run_index);
    before = part.run_index;
    at = after(at, line.size(), part);
    ++answers_;
  });
  if (at.events != folder.sealed_bytes("events.jsonl") ||
      at.sample != folder.sealed_bytes("samples.jsonl"))
    throw BadInput(name_, "does not count the bytes of events.jsonl and samples.jsonl",
                   remedy_for(name_));
  if (!is_ascending)
    throw BadInput(name_, "does not list its answers in ascending order", remedy_for(name_));
}

std::optional<std::size_t> ShardReader::run_index() {
  if (taken_ == answers_) return std::nullopt;
  line_ = parts_.line(at_.part);
  part_ = part_of(line_, runs_, LinePlace{name_});
  return part_.run_index;
}

void ShardReader::take(std::string& events, std::string& samples) {
  events_.read(at_.events, part_.events, events);
  samples_.read(at_.sample, part_.sample, samples);
  at_ = after(at_, line_.size(), part_);
  ++taken_;
}

}  // namespace tempera::gpu
