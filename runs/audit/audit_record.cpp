#include "runs/audit/audit_record.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/text_file.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

constexpr const char* remedy_of_record =
    "give a run folder, or a response that was asked for with audit";

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream text(read_text_file(file.string(), remedy_of_record));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// Refuses what cannot be replayed from the record.
void require_auditable(const AuditRecord& record) {
  const SamplingSettings& settings = record.settings;
  const bool is_tokenwise =
      sampler_named(settings.sampler, record.where).program == tokenwise_sampling;
  if (!settings.audit && !is_tokenwise)
    throw BadInput(record.where, "was drawn without --auditable, so it lacks the proposals' tokens",
                   "draw it with --auditable");
  if (settings.audit && settings.audit->format != SamplingSettings::Audit::format_now)
    throw BadInput(record.where,
                   "is of version " + std::to_string(settings.audit->format) +
                       " of what is kept for audits, and this program knows " +
                       std::to_string(SamplingSettings::Audit::format_now),
                   "audit it with the program that drew it");
}

AuditRecord read_folder(const fs::path& path) {
  if (!fs::exists(path / "config.json"))
    throw BadInput(path.string(), "holds no config.json, so it is not a run folder",
                   remedy_of_record);
  AuditRecord record;
  record.where = path.string();
  const std::string file = (path / "config.json").string();
  const nlohmann::json config = parse_json(read_text_file(file, remedy_of_record), file);
  if (config.is_object() && config.contains("shard"))
    throw BadInput(path.string(), "is a shard of a run",
                   "audit the folder that `tempera merge` makes");
  record.settings = SamplingSettings::from_json(config, file);
  if (!fs::exists(path / "summary.json"))
    throw BadInput(path.string(), "is a run that has not ended",
                   "end it with `tempera sample --resume`, and audit it then");
  record.events = lines_of(path / "events.jsonl");
  record.samples = lines_of(path / "samples.jsonl");
  return record;
}

std::vector<std::string> texts_of(const JsonObject& object, const std::string& key) {
  std::vector<std::string> texts;
  // A line stays a text, since the order of its keys counts.
  for (const auto& line : object.array(key)) {
    if (!line.is_string())
      throw BadInput(object.where(), "key \"" + key + "\" holds something that is not a text",
                     remedy_of_record);
    texts.push_back(line.get<std::string>());
  }
  return texts;
}

AuditRecord read_answer(const fs::path& path) {
  const std::string file = path.string();
  const nlohmann::json whole = parse_json(read_text_file(file, remedy_of_record), file);
  const nlohmann::json* found = &whole;
  for (const char* key : {"tempera", "audit"})
    if (found->is_object() && found->contains(key)) found = &found->at(key);
  if (!found->is_object() || !found->contains("events"))
    throw BadInput(file, "holds nothing to audit", remedy_of_record);
  const JsonObject object(*found, file);
  object.only({"config", "events", "samples"});
  AuditRecord record;
  record.where = file;
  record.settings = SamplingSettings::from_json(object.at("config"), file + ", key \"config\"");
  record.events = texts_of(object, "events");
  record.samples = texts_of(object, "samples");
  return record;
}

}  // namespace

AuditRecord read_audit_record(const fs::path& path) {
  AuditRecord record = fs::is_directory(path) ? read_folder(path) : read_answer(path);
  require_auditable(record);
  return record;
}

}  // namespace tempera::gpu
