#include "gpu/llm/models/packed_weights.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/models/model_digest.hpp"
#include "gpu/llm/models/model_text.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

/// The files of a model's folder that hold weights, or the model's one file or its parts.
std::vector<fs::path> weight_files(const fs::path& model) {
  std::error_code error;
  if (!fs::is_directory(model, error)) return parts_of_model(model);
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(model, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".safetensors") files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// What changes whenever a model's files do. No program can set the time of a file's last change.
std::string state_of(const std::string& model) {
  std::string text = model_digest(model) + '\n';
  for (const fs::path& file : weight_files(model)) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) refuse_unreadable(file, errno);
    text += file.filename().string();
    for (const std::int64_t number :
         {std::int64_t{status.st_size}, std::int64_t{status.st_mtim.tv_sec},
          std::int64_t{status.st_mtim.tv_nsec}, std::int64_t{status.st_ctim.tv_sec},
          std::int64_t{status.st_ctim.tv_nsec}})
      text += ' ' + std::to_string(number);
    text += '\n';
  }
  return text;
}

std::uint64_t bytes_of_weights(const std::string& model) {
  std::uint64_t bytes = 0;
  for (const fs::path& file : weight_files(model)) bytes += size_of(file);
  return bytes;
}

std::string in_name(const std::string& text) { return sha256(text).substr(0, 16); }

fs::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? fs::path() : fs::path(value);
}

}  // namespace

fs::path packed_weights_folder() {
  if (const fs::path cache = folder_in("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "tempera/packed";
  const fs::path home = folder_in("HOME");
  return home.is_absolute() ? home / ".cache/tempera/packed" : fs::path();
}

ModelWeightsFile::ModelWeightsFile(const std::string& model, Arithmetic arithmetic,
                                   const PackedWeights& asked)
    : model_(model), asked_(asked) {
  // A GPU has its weights in a memory of its own.
  if (asked.folder.empty() || device_system() == "CUDA") return;
  if (bytes_of_weights(model) < asked.least_bytes) return;
  state_ = state_of(model);
  const std::string place =
      fs::weakly_canonical(model).string() + '\n' + std::string(name_of(packs_as(arithmetic)));
  const std::string how = asked.program + '\n' + packing_digest(arithmetic);
  begin_of_name_ = in_name(place) + '-';
  state_in_name_ = in_name(state_);
  const fs::path file =
      asked.folder / (begin_of_name_ + state_in_name_ + '-' + in_name(how) + ".packed");
  try {
    file_ = PackedWeightsFile::open_or_make(file, sha256(place + '\n' + state_ + '\n' + how),
                                            asked.say, std::chrono::minutes(5), *asked.disk);
  } catch (const NoPackedWeights& fault) {
    give_up(fault.what());
  }
}

void ModelWeightsFile::finish() {
  if (!file_ || !file_->is_maker()) return;
  if (state_of(model_) != state_) throw NoPackedWeights(model_ + " changed while it was read");
  file_->finish();
  std::array<char, 32> size{};
  std::snprintf(size.data(), size.size(), "%.2f GiB", static_cast<double>(file_->size()) / 0x1p30);
  asked_.say("keeps packed weights in " + file_->file().string() + " (" + size.data() +
             "), which may be removed at any time");
  std::error_code error;
  for (fs::directory_iterator entry(asked_.folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    // No process opens one of another state again; who has it mapped keeps it.
    std::error_code of_removal;
    if (name.starts_with(begin_of_name_) && name.ends_with(".packed") &&
        !name.starts_with(begin_of_name_ + state_in_name_))
      fs::remove(entry->path(), of_removal);
  }
}

void ModelWeightsFile::give_up(const std::string& why) {
  file_.reset();
  asked_.say("packs its weights in memory of its own: " + why);
}

}  // namespace tempera::gpu
