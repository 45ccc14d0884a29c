#include "gpu/runs/run_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gpu/input/bad_input.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

void check(bool good, const fs::path& file, const std::string& what) {
  if (!good) throw BadInput(file.string(), what, "check the disk's space and the permissions");
}

/// Forces a file's bytes to the disk, so that a rename after it never shows a half-written file.
void force_to_disk(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY);
  check(descriptor >= 0, file, "cannot be opened again");
  const int failed = ::fsync(descriptor);
  ::close(descriptor);
  check(failed == 0, file, "cannot be written");
}

/// Writes a file beside its place and moves it there: it is there whole, or as it was before.
void replace_file(const fs::path& file, const std::string& content) {
  const fs::path beside = file.string() + ".new";
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out << content;
    out.flush();
    check(out.good(), beside, "cannot be written");
  }
  force_to_disk(beside);
  fs::rename(beside, file);
}

std::string read_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) throw BadInput(file.string(), "cannot be read", "give a folder that a run has made");
  return content.str();
}

nlohmann::json parse(const std::string& text, const fs::path& file) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw BadInput(file.string(), "byte " + std::to_string(error.byte) + ": is not JSON",
                   "the folder was changed by another program; start the run again elsewhere");
  }
}

/// The line that a checkpoint begins with: FNV-1a, 64 bits, of the run's config.json and the
/// checkpoint's state. It tells a checkpoint that was cut, garbled or brought from another run.
std::string seal_of(const std::string& config, const std::string& state) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const std::string* text : {&config, &state}) {
    for (const char byte : *text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  std::ostringstream line;
  line << std::hex << std::setfill('0') << std::setw(16) << hash << '\n';
  return line.str();
}

/// Whether a folder holds nothing but what create, killed halfway, can have left in it.
bool is_half_made(const fs::path& folder) {
  if (!fs::is_directory(folder)) return false;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path name = entry.path().filename();
    if (name != "config.json" && name != "config.json.new") return false;
  }
  return true;
}

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {}

RunFolder RunFolder::create(const fs::path& named, const nlohmann::ordered_json& config) {
  const fs::path path = named.has_filename() ? named : named.parent_path();
  if (fs::exists(path))
    throw BadInput(path.string(), "exists already, and a run folder is never overwritten",
                   "choose another folder, or go on with --resume " + path.string());
  const fs::path beside = path.string() + ".new";
  if (fs::exists(beside) && !is_half_made(beside))
    throw BadInput(beside.string(), "is in the way: the run folder is prepared there",
                   "move it away, or choose another folder");
  std::error_code error;
  fs::create_directories(beside, error);
  check(!error, beside, "cannot be made");
  replace_file(beside / "config.json", config.dump(1) + "\n");
  fs::rename(beside, path, error);
  check(!error, path, "cannot be made");
  RunFolder folder(path);
  folder.open_files(0, 0);
  return folder;
}

RunFolder RunFolder::open(const fs::path& path) {
  if (!fs::exists(path / "config.json"))
    throw BadInput(path.string(), "holds no config.json, so it is no run folder",
                   "give the folder that --out made");
  RunFolder folder(path);
  const auto checkpoint = folder.checkpoint();
  if (checkpoint)
    folder.open_files(checkpoint->at("events_bytes"), checkpoint->at("samples_bytes"));
  else
    folder.open_files(0, 0);
  return folder;
}

nlohmann::json RunFolder::config() const {
  return parse(read_bytes(path_ / "config.json"), path_ / "config.json");
}

std::optional<nlohmann::json> RunFolder::checkpoint() const {
  const fs::path file = path_ / "checkpoint";
  if (!fs::exists(file)) return std::nullopt;
  const std::string sealed = read_bytes(file);
  const std::size_t line_end = std::min(sealed.find('\n'), sealed.size() - 1) + 1;
  const std::string state = sealed.substr(line_end);
  if (sealed.substr(0, line_end) != seal_of(read_bytes(path_ / "config.json"), state))
    throw BadInput(file.string(), "is damaged, or config.json is not the one it was made with",
                   "the folder was changed by another program; start the run again elsewhere");
  return parse(state, file);
}

bool RunFolder::finished() const { return fs::exists(path_ / "summary.json"); }

void RunFolder::open_files(std::uint64_t events_size, std::uint64_t samples_size) {
  const auto open_at = [&](std::ofstream& file, const std::string& name, std::uint64_t size) {
    const fs::path place = path_ / name;
    if (fs::exists(place)) {
      if (fs::file_size(place) < size)
        throw BadInput(place.string(), "is shorter than its checkpoint says",
                       "the folder was changed by another program; start the run again elsewhere");
      fs::resize_file(place, size);
    } else if (size > 0) {
      throw BadInput(place.string(), "is missing", "start the run again elsewhere");
    }
    file.open(place, std::ios::binary | std::ios::app);
    check(file.good(), place, "cannot be opened");
  };
  open_at(events_, "events.jsonl", events_size);
  open_at(samples_, "samples.jsonl", samples_size);
  events_size_ = events_size;
  samples_size_ = samples_size;
}

void RunFolder::append(std::ofstream& file, std::uint64_t& size, const std::string& line) {
  file << line << '\n';
  size += line.size() + 1;
}

void RunFolder::save_checkpoint(nlohmann::json state) {
  events_.flush();
  samples_.flush();
  check(events_.good(), path_ / "events.jsonl", "cannot be written");
  check(samples_.good(), path_ / "samples.jsonl", "cannot be written");
  force_to_disk(path_ / "events.jsonl");
  force_to_disk(path_ / "samples.jsonl");
  state["events_bytes"] = events_size_;
  state["samples_bytes"] = samples_size_;
  const std::string text = state.dump();
  replace_file(path_ / "checkpoint", seal_of(read_bytes(path_ / "config.json"), text) + text);
}

void RunFolder::finish(const nlohmann::ordered_json& summary) {
  replace_file(path_ / "summary.json", summary.dump(1) + "\n");
}

}  // namespace tempera::gpu
