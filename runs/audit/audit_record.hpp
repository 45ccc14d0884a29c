#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "settings/sampling_settings.hpp"

namespace tempera::gpu {

/// The record that an audit compares with: a finished run folder, or a response of the server.
struct AuditRecord {
  std::string where;                 ///< for messages
  SamplingSettings settings;         ///< its config.json
  std::vector<std::string> events;   ///< the lines of events.jsonl
  std::vector<std::string> samples;  ///< the lines of samples.jsonl
};

/// Reads a run folder, or a file of JSON that holds {"config", "events", "samples"}: by itself, as
/// "audit", or as "tempera": {"audit"}, as a response of the server does. The seals of a folder are
/// not looked at: the audit says what was changed.
/// @throw BadInput naming the file for what is missing or cannot be read, for a run that has not
/// ended, a shard, and a record of another version of tempera
AuditRecord read_audit_record(const std::filesystem::path& path);

}  // namespace tempera::gpu
