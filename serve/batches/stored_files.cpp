#include "serve/batches/stored_files.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/json_document.hpp"

namespace tempera::serve {

namespace fs = std::filesystem;

nlohmann::ordered_json to_json(const StoredFile& file) {
  return {{"id", file.id},
          {"object", "file"},
          {"bytes", file.bytes},
          {"created_at", file.created},
          {"filename", file.filename},
          {"purpose", file.purpose},
          {"status", "processed"}};
}

namespace {

/// Reads the description of a file of so many bytes, and the checksum that older versions leave
/// out.
std::pair<StoredFile, std::optional<std::string>> read_description(const fs::path& path,
                                                                   std::uint64_t bytes) {
  const auto described = read_json_file(path);
  const JsonObject object(described, path.string());
  object.only({"id", "object", "bytes", "created_at", "filename", "purpose", "status", "checksum"});
  StoredFile file{.id = path.stem().string(),
                  .filename = object.text("filename"),
                  .purpose = object.text("purpose"),
                  .bytes = bytes};
  file.created = static_cast<std::int64_t>(
      object.whole_number("created_at", 0, std::numeric_limits<std::int64_t>::max()));
  return {std::move(file), object.optional_text("checksum")};
}

std::string checksum_of(const StoredFile& file, std::string_view content) {
  Checksum checksum;
  checksum.update(to_json(file).dump());
  checksum.update(content);
  return hexadecimal(checksum);
}

}  // namespace

StoredFiles::StoredFiles(fs::path folder, Disk& disk) : folder_(std::move(folder)), disk_(disk) {
  std::error_code error;
  disk_.make_folders(folder_);
  std::set<std::string> contents;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".jsonl") contents.insert(path.stem().string());
    if (path.extension() != ".json") continue;
    const std::uint64_t bytes = size_of(folder_ / (path.stem().string() + ".jsonl"));
    StoredFile file = read_description(path, bytes).first;
    files_[file.id] = std::move(file);
  }
  if (error)
    throw BadInput(folder_.string(), "cannot be read (" + error.message() + ")",
                   "give a folder that you may read and write");
  for (const std::string& id : contents)
    if (!files_.contains(id)) disk_.remove(folder_ / (id + ".jsonl"));
}

StoredFile StoredFiles::put(StoredFile description, std::string_view content) {
  description.bytes = content.size();
  const fs::path data = folder_ / (description.id + ".jsonl");
  disk_.replace(data, content);
  nlohmann::ordered_json described = to_json(description);
  described["checksum"] = checksum_of(description, content);
  try {
    disk_.replace(folder_ / (description.id + ".json"), described.dump() + "\n");
  } catch (...) {
    disk_.remove(data);
    throw;
  }
  const std::scoped_lock lock(mutex_);
  files_[description.id] = description;
  return description;
}

std::optional<StoredFile> StoredFiles::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = files_.find(id);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<StoredFile> StoredFiles::list() const {
  std::vector<StoredFile> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, file] : files_) all.push_back(file);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const StoredFile& a, const StoredFile& b) { return a.created > b.created; });
  return all;
}

std::string StoredFiles::content(const std::string& id) const {
  const fs::path data = folder_ / (id + ".jsonl");
  std::string content = read_whole(data);
  const auto [file, checksum] = read_description(folder_ / (id + ".json"), content.size());
  if (checksum && *checksum != checksum_of(file, content))
    throw BadInput(data.string(), "is not what was put there", "put it back as it was");
  return content;
}

bool StoredFiles::remove(const std::string& id) {
  {
    const std::scoped_lock lock(mutex_);
    if (files_.erase(id) == 0) return false;
  }
  // The description first: a content alone is removed at the next start.
  disk_.remove(folder_ / (id + ".json"));
  disk_.remove(folder_ / (id + ".jsonl"));
  return true;
}

}  // namespace tempera::serve
