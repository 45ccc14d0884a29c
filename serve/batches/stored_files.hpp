#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.hpp"

namespace tempera::serve {

/// A file of /v1/files as the protocol describes it.
struct StoredFile {
  std::string id;
  std::string filename = {};  ///< the client's name for it; never a name on this disk
  std::string purpose = {};   ///< "batch" or "batch_output"
  std::uint64_t bytes = 0;
  std::int64_t created = 0;
};
nlohmann::ordered_json to_json(const StoredFile& file);

/// The files of /v1/files, each under its id in one folder. A file is there whole or not at all:
/// its description, ID.json, is written after its content, ID.jsonl, and has a checksum of both.
/// Any thread may call.
class StoredFiles {
 public:
  /// Resumes what is there; a content without a description, which a killed process leaves, is
  /// removed. `disk` must outlive the object.
  /// @throw BadInput if the folder cannot be made or read
  explicit StoredFiles(std::filesystem::path folder, Disk& disk = Disk::owners());
  /// Those of another server, of which only the content is read.
  static StoredFiles of_another(std::filesystem::path folder, Disk& disk) {
    return {Foreign(), std::move(folder), disk};
  }

  /// Writes a file; one of the same id is replaced.
  /// @throw BadInput if the disk does not take it; then nothing of it is left
  StoredFile put(StoredFile description, std::string_view content);
  std::optional<StoredFile> find(const std::string& id) const;
  /// Newest first.
  std::vector<StoredFile> list() const;
  /// @throw BadInput if it cannot be read, or is not what was put there
  std::string content(const std::string& id) const;
  /// Whether there was one.
  bool remove(const std::string& id);

 private:
  struct Foreign {};
  StoredFiles(Foreign, std::filesystem::path folder, Disk& disk)
      : folder_(std::move(folder)), disk_(disk) {}

  std::filesystem::path folder_;
  Disk& disk_;
  mutable std::mutex mutex_;
  std::map<std::string, StoredFile> files_;
};

}  // namespace tempera::serve
