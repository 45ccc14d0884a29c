#include "gpu/llm/models/hub_model.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/text_file.hpp"
#include "gpu/llm/models/hub_download_text.hpp"
#include "gpu/llm/models/run_python.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

std::string command_for(const HubName& name) {
  return "tempera models get " + name.repository + (name.file.empty() ? "" : "/" + name.file) +
         (name.revision == "main" ? "" : "@" + name.revision);
}

bool is_part(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.front() != '-' &&
         text.find("..") == std::string_view::npos && text.find("--") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto slash = text.find('/');
    parts.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    text.remove_prefix(slash + 1);
  }
}

fs::path folder_of(const HubName& name) {
  std::string folder = "models--" + name.repository;
  folder.replace(folder.find('/'), 1, "--");
  return hub_cache() / folder;
}

/// The commit that a revision stands for; nothing if it is not in the cache.
std::optional<std::string> commit_of(const HubName& name) {
  const fs::path folder = folder_of(name);
  std::error_code error;
  if (const auto ref = folder / "refs" / name.revision; fs::is_regular_file(ref, error)) {
    std::string commit = read_text_file(ref, "", 4096);
    while (!commit.empty() && std::isspace(static_cast<unsigned char>(commit.back())) != 0)
      commit.pop_back();
    if (is_part(commit)) return commit;
    throw BadInput(ref.string(), "holds no commit", "run " + command_for(name));
  }
  if (fs::is_directory(folder / "snapshots" / name.revision, error)) return name.revision;
  return std::nullopt;
}

/// "model-00001-of-00003.gguf" is the first part of a model; the others follow from it.
bool is_later_part(const std::string& file) {
  const auto of = file.find("-of-");
  return of != std::string::npos && of >= 6 && file.compare(of - 5, 5, "00001") != 0;
}

/// The only model of a snapshot of GGUF files.
fs::path only_gguf(const HubSnapshot& snapshot) {
  std::set<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(snapshot.path, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".gguf" && !is_later_part(entry->path().filename()))
      files.insert(entry->path().filename());
  if (files.size() == 1) return snapshot.path / *files.begin();
  std::string list;
  for (const auto& file : files) list += (list.empty() ? "" : ", ") + file;
  const std::string& repository = snapshot.name.repository;
  if (files.empty())
    throw BadInput(repository,
                   "its snapshot in the Hugging Face cache has neither config.json nor a GGUF file",
                   "run " + command_for(snapshot.name) +
                       ", or for a GGUF file tempera models get " + repository + "/FILE.gguf");
  throw BadInput(repository, "has several GGUF files in the Hugging Face cache (" + list + ")",
                 "give " + repository + "/FILE");
}

void require_file(const HubSnapshot& snapshot, const std::string& file) {
  // A link whose blob is missing does not exist.
  if (!is_there(snapshot.path / file))
    throw BadInput(
        snapshot.name.repository,
        "its snapshot in the Hugging Face cache (" + snapshot.path.string() + ") lacks " + file,
        "run " + command_for(snapshot.name));
}

}  // namespace

std::optional<HubName> read_hub_name(std::string_view text) {
  HubName name;
  if (const auto at = text.find('@'); at != std::string_view::npos) {
    name.revision = text.substr(at + 1);
    const auto parts = parts_of(name.revision);
    if (!std::all_of(parts.begin(), parts.end(), is_part)) return std::nullopt;
    text = text.substr(0, at);
  }
  const auto parts = parts_of(text);
  if (parts.size() < 2 || parts.size() > 4 || !std::all_of(parts.begin(), parts.end(), is_part))
    return std::nullopt;
  if (parts.size() > 2 && !parts.back().ends_with(".gguf")) return std::nullopt;
  const auto repository = parts[0].size() + 1 + parts[1].size();
  name.repository = text.substr(0, repository);
  if (parts.size() > 2) name.file = text.substr(repository + 1);
  return name;
}

fs::path hub_cache() {
  const auto variable = [](const char* name) {
    const char* value =
        std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the program does not set it
    return fs::path(value == nullptr ? "" : value);
  };
  const fs::path home = variable("HOME");
  const auto expanded = [&](const fs::path& path) {
    const std::string text = path;
    return text.starts_with("~/") ? home / text.substr(2) : path;
  };
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (const auto path = variable(name); !path.empty()) return expanded(path);
  if (const auto path = variable("HF_HOME"); !path.empty()) return expanded(path) / "hub";
  if (const auto path = variable("XDG_CACHE_HOME"); !path.empty())
    return expanded(path) / "huggingface/hub";
  return home / ".cache/huggingface/hub";
}

std::optional<HubSnapshot> find_snapshot(const std::string& name_or_path) {
  if (name_or_path.empty() || is_there(name_or_path)) return std::nullopt;
  const auto name = read_hub_name(name_or_path);
  if (!name) return std::nullopt;
  const auto commit = commit_of(*name);
  std::error_code error;
  HubSnapshot snapshot{*name, folder_of(*name) / "snapshots" / commit.value_or(""),
                       commit.value_or("")};
  if (!commit || !fs::is_directory(snapshot.path, error))
    throw BadInput(
        name_or_path,
        "does not exist here, and is not in the Hugging Face cache (" + hub_cache().string() + ")",
        "run " + command_for(*name) + ", or add --download");
  if (!name->file.empty()) {
    require_file(snapshot, name->file);
    snapshot.path /= name->file;
  } else if (!is_there(snapshot.path / "config.json") &&
             !is_there(snapshot.path / "tokenizer.json")) {
    snapshot.path = only_gguf(snapshot);
  }
  return snapshot;
}

void require_complete(const HubSnapshot& snapshot) {
  std::error_code error;
  if (!fs::is_directory(snapshot.path, error)) return;
  require_file(snapshot, "config.json");
  const auto index = snapshot.path / "model.safetensors.index.json";
  if (!is_there(index)) return require_file(snapshot, "model.safetensors");
  const auto document = read_json_file(index);
  const JsonObject whole(document, index.string());
  const JsonObject map = whole.object("weight_map");
  std::set<std::string> files;
  for (const std::string& tensor : map.keys()) files.insert(map.text(tensor));
  for (const std::string& file : files) require_file(snapshot, file);
}

std::optional<HubName> missing_snapshot(const std::string& name_or_path) {
  if (is_there(name_or_path)) return std::nullopt;
  auto name = read_hub_name(name_or_path);
  if (!name)
    throw BadInput(name_or_path, "is not a name of the Hugging Face Hub",
                   "give OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME/FILE.gguf");
  try {
    if (const auto there = find_snapshot(name_or_path)) {
      require_complete(*there);
      return std::nullopt;
    }
  } catch (const BadInput&) {
    // So it is missing.
  }
  return name;
}

void download_snapshot(const std::string& name_or_path) {
  const auto name = missing_snapshot(name_or_path);
  if (!name) return;
  std::string pattern = (fs::temp_directory_path() / "tempera-download-XXXXXX").string();
  const int descriptor = ::mkstemp(pattern.data());
  const OpenFile open(descriptor);
  if (!open) throw BadInput(pattern, "cannot be made", "set TMPDIR to a folder you may write");
  const int code = run_python({"-I", "-c", std::string(hub_download_text()), name->repository,
                               name->file, name->revision, hub_cache().string()},
                              pattern, LogOf::errors_if_no_terminal);
  const std::string said = last_line(read_text_file(pattern));
  std::error_code error;
  fs::remove(pattern, error);
  if (code == 0) return;
  constexpr int not_installed = 3;
  if (code == not_installed || code == 127)
    throw BadInput(name_or_path, "cannot be downloaded: huggingface_hub is not installed",
                   "pip install huggingface_hub, or put the files into a folder");
  throw BadInput(name_or_path, "cannot be downloaded (" + said + ")",
                 "see the name, the network, HF_ENDPOINT, and HF_TOKEN for a model with a gate");
}

}  // namespace tempera::gpu
