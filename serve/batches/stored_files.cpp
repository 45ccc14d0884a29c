#include "serve/batches/stored_files.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

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

StoredFiles::StoredFiles(fs::path folder, Disk& disk) : folder_(std::move(folder)), disk_(disk) {
  std::error_code error;
  disk_.make_folders(folder_);
  std::set<std::string> contents;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".jsonl") contents.insert(path.stem().string());
    if (path.extension() != ".json") continue;
    const auto json = read_json_file(path);
    const JsonObject object(json, path.string());
    StoredFile file{.id = path.stem().string(),
                    .filename = object.text("filename"),
                    .purpose = object.text("purpose"),
                    .bytes = size_of(folder_ / (path.stem().string() + ".jsonl"))};
    file.created = static_cast<std::int64_t>(
        object.whole_number("created_at", 0, std::numeric_limits<std::int64_t>::max()));
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
  try {
    disk_.replace(folder_ / (description.id + ".json"), to_json(description).dump() + "\n");
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
  return read_whole(folder_ / (id + ".jsonl"));
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
