#include "runs/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/readable_json.hpp"
#include "base/regular_file.hpp"
#include "runs/checksums_of_files.hpp"
#include "runs/shard.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

std::string waiting_name(std::size_t sample) {
  return "waiting-" + std::to_string(sample) + ".jsonl";
}

/// Whether it is the name of a file that is there only once something is written to it.
bool is_made_when_written(const std::string& name) {
  return name == "prompt_reports.jsonl" || name == "parts.jsonl" ||
         (name.starts_with("waiting-") && name.ends_with(".jsonl") &&
          name.find('/') == std::string::npos);
}

/// Whether a run writes a file of this name.
bool is_name_of_run(const std::string& name) {
  constexpr std::array<std::string_view, 6> always{"config.json",   "checkpoint", "events.jsonl",
                                                   "samples.jsonl", "speed.json", "summary.json"};
  return std::find(always.begin(), always.end(), name) != always.end() ||
         is_made_when_written(name) || Journal::is_name(name);
}

/// What a checkpoint's first line says: the checksum of the run's config.json and of the text
/// below.
Checksum checksum_of(const std::string& config, std::string_view text) {
  Checksum checksum;
  checksum.update(config);
  checksum.update(text);
  return checksum;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename());
  if (error)
    throw BadInput(folder.string(), "cannot be read (" + error.message() + ")",
                   "give a folder that you may read");
  return names;
}

/// Whether a folder holds nothing but what create, killed halfway, can have left in it.
bool is_unused(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  const auto names = names_in(folder);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == "config.json.new" ||
           (name == "events.jsonl" && fs::file_size(folder / name, error) == 0);
  });
}

[[noreturn]] void refuse_to_overwrite(const fs::path& path) {
  throw BadInput(path.string(), "exists already, and a run folder is never overwritten",
                 "choose another folder, or resume with --resume " + as_shell_word(path.string()));
}

}  // namespace

const char* remedy_for(const fs::path& file) {
  if (!shard_of_folder(file.parent_path().filename())) return start_elsewhere;
  return "another program changed the folder, or a process wrote there that had lost the shard; "
         "remove the folder, and draw the shard again by its command";
}

RunFolder::RunFolder(fs::path path, Disk& disk)
    : path_(std::move(path)), disk_(&disk), journal_(path_, Checksum(), disk) {
  files_["events.jsonl"];
  files_["samples.jsonl"];
}

RunFolder RunFolder::create(const fs::path& named, const nlohmann::ordered_json& config,
                            Disk& disk) {
  const fs::path path = named.has_filename() ? named : named.parent_path();
  require_no_special_file(path, "folder");
  const bool there = is_there(path);
  if (there && !is_unused(path)) refuse_to_overwrite(path);
  if (!there) {
    disk.make_folders(path.parent_path());
    disk.make_folder(path);
  }
  RunFolder folder(path, disk);
  try {
    folder.lock(true);
    // Another process can have begun a run here before the lock was had.
    if (!is_unused(path)) refuse_to_overwrite(path);
    folder.config_ = config.dump(1) + "\n";
    disk.replace(path / "config.json", folder.config_);
    folder.journal_ = Journal(path, checksum_of(folder.config_, ""), disk);
    folder.take_up();
  } catch (...) {
    folder.unmake(!there);
    throw;
  }
  return folder;
}

RunFolder RunFolder::open(const fs::path& path, Disk& disk) {
  return std::move(open_together({path}, disk).front());
}

std::vector<RunFolder> RunFolder::open_together(const std::vector<fs::path>& paths, Disk& disk) {
  std::vector<RunFolder> folders;
  folders.reserve(paths.size());
  for (const fs::path& path : paths) folders.push_back(open_unread(path, disk));
  verify(folders);
  for (RunFolder& folder : folders)
    if (!folder.is_finished_) folder.take_up();
  return folders;
}

RunFolder RunFolder::open_unread(const fs::path& path, Disk& disk) {
  require_no_special_file(path, "folder");
  if (is_unused(path))
    throw BadInput(path.string(), "is empty: no run has begun in it",
                   "begin one there with --out " + as_shell_word(path.string()));
  if (!is_there(path / "config.json"))
    throw BadInput(path.string(), "holds no config.json, so it is not a run folder",
                   "give the folder that --out made");
  for (const std::string& name : names_in(path))
    if (is_name_of_run(name)) require_no_special_file(path / name);
  RunFolder folder(path, disk);
  folder.lock(!is_there(path / "checkpoint"));
  folder.config_ = read_whole(path / "config.json");
  folder.journal_ = Journal(path, checksum_of(folder.config_, ""), disk);
  folder.read_checkpoint();
  folder.read_journal();
  folder.is_finished_ = folder.summary_ && is_there(path / "summary.json");
  // Any number of processes may read a finished run.
  if (folder.is_finished_) ::flock(folder.lock_.descriptor(), LOCK_SH | LOCK_NB);
  return folder;
}

/// Removes what create has made before it failed; a folder that holds anything else stays.
void RunFolder::unmake(bool folder_too) {
  try {
    if (lock_ && is_unused(path_)) {
      disk_->remove(path_ / "config.json.new");
      disk_->remove(path_ / "events.jsonl");
    }
    if (folder_too && names_in(path_).empty()) disk_->remove(path_);
  } catch (const BadInput&) {
    // What create failed of is the news.
  }
}

void RunFolder::lock(bool make) {
  const fs::path file = path_ / "events.jsonl";
  if (make) {
    lock_ = disk_->open_to_append(file);
  } else {
    lock_ = OpenFile(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!lock_) lock_ = OpenFile(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!lock_)
      throw BadInput(file.string(), "cannot be opened " + reason(errno), remedy_for(file));
  }
  if (::flock(lock_.descriptor(), LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  if (error == EWOULDBLOCK && disk_->is_claimed()) return;
  // A finished run that others read can be read here too; read_checkpoint says whether it is one.
  if (error == EWOULDBLOCK && is_there(path_ / "summary.json") &&
      ::flock(lock_.descriptor(), LOCK_SH | LOCK_NB) == 0)
    return;
  lock_ = OpenFile();
  if (error == EWOULDBLOCK)
    throw BadInput(path_.string(), "another process is at work in this folder",
                   "wait until it has ended, or choose another folder");
  throw BadInput(file.string(), "cannot be locked " + reason(error),
                 "put the run folder on a file system that can lock");
}

void RunFolder::read_checkpoint() {
  const fs::path file = path_ / "checkpoint";
  if (!is_there(file)) return;
  const std::string sealed = read_whole(file);
  const std::size_t line_end = std::min(sealed.find('\n'), sealed.size() - 1) + 1;
  const std::string_view text = std::string_view(sealed).substr(line_end);
  const Checksum checksum = checksum_of(config_, text);
  if (sealed.substr(0, line_end) != hexadecimal(checksum) + '\n')
    throw BadInput(file.string(), "is damaged, or config.json is not the one it was made with",
                   remedy_for(file));
  const nlohmann::json json = parse_json(text, file.string());
  const JsonObject checkpoint(json, file.string());
  checkpoint.only({"files", "state", "summary"});
  for (const auto& [name, value] : checkpoint.at("files").items()) {
    const JsonObject written(value, file.string() + ", " + name);
    written.only({"bytes", "seal"});
    if (name != "events.jsonl" && name != "samples.jsonl" && !is_made_when_written(name))
      throw BadInput(written.where(), "is not a file of a run folder", remedy_for(file));
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    files_[name] = {written.whole_number("bytes", 0, most),
                    Checksum(written.whole_number("seal", 0, most)),
                    true,
                    {}};
  }
  state_ = checkpoint.at("state");
  if (checkpoint.has("summary")) summary_ = checkpoint.text("summary");
  journal_ = Journal(path_, checksum, *disk_);
}

void RunFolder::read_journal() {
  if (summary_) return;
  if (!state_)
    for (const std::string& name : names_in(path_))
      if (Journal::is_name(name) && name != journal_.name())
        throw BadInput((path_ / "config.json").string(), "is not the one that the run began with",
                       remedy_for(path_ / name));
  journal_.read();
}

void RunFolder::verify(const std::vector<RunFolder>& folders) {
  struct Read {
    const RunFolder* folder;
    const std::string* name;
    const Written* written;
  };
  std::vector<Read> reads;
  std::vector<StartOf> starts;
  for (const RunFolder& folder : folders)
    for (const auto& [name, written] : folder.files_) {
      const fs::path file = folder.path_ / name;
      if (written.bytes == 0 && !is_there(file)) continue;
      if (!is_there(file)) throw BadInput(file.string(), "is missing", remedy_for(file));
      if (size_of(file) < written.bytes)
        throw BadInput(file.string(), "is shorter than its checkpoint says", remedy_for(file));
      reads.push_back({&folder, &name, &written});
      starts.push_back({file, written.bytes});
    }
  const std::vector<Checksum> checksums = checksums_of(starts);
  for (std::size_t i = 0; i < reads.size(); ++i)
    reads[i].folder->require_whole(*reads[i].name, *reads[i].written, checksums[i]);
  for (const RunFolder& folder : folders) folder.require_summary();
}

void RunFolder::require_whole(const std::string& name, const Written& written,
                              const Checksum& checksum) const {
  const fs::path file = path_ / name;
  const bool longer = summary_ && fs::file_size(file) > written.bytes;
  if (!(checksum == written.checksum) || longer)
    throw BadInput(file.string(), "is not what the run wrote", remedy_for(file));
}

void RunFolder::require_summary() const {
  const fs::path file = path_ / "summary.json";
  if (is_there(file) && (!summary_ || read_whole(file) != *summary_))
    throw BadInput(file.string(), "is not what the run wrote", remedy_for(file));
}

void RunFolder::take_up() {
  for (const auto& [name, written] : files_) {
    const OpenFile open = disk_->open_to_append(path_ / name);
    disk_->cut(open, written.bytes, path_ / name);
  }
  if (!summary_) journal_.cut();
  remove_strays();
  if (summary_) write_summary();
}

void RunFolder::remove_strays() {
  const std::string journal = summary_ ? "" : journal_.name();
  for (const std::string& name : names_in(path_))
    if ((is_made_when_written(name) && files_.find(name) == files_.end()) ||
        (Journal::is_name(name) && name != journal))
      disk_->remove(path_ / name);
}

nlohmann::json RunFolder::config() const {
  return parse_json(config_, (path_ / "config.json").string());
}

void RunFolder::for_each_sample(const std::function<void(const std::string&)>& take) const {
  for_each_line("samples.jsonl", take);
}

void RunFolder::for_each_prompt_report(const std::function<void(const std::string&)>& take) const {
  for_each_line("prompt_reports.jsonl", take);
}

void RunFolder::for_each_part(
    const std::function<void(const std::string&, const LinePlace&)>& take) const {
  const std::string file = path_ / "parts.jsonl";
  LinePlace where{file};
  for_each_line("parts.jsonl", [&](const std::string& line) {
    ++where.number;
    take(line, where);
  });
}

std::uint64_t RunFolder::sealed_bytes(const std::string& name) const {
  const auto written = files_.find(name);
  return written == files_.end() ? 0 : written->second.bytes;
}

void RunFolder::for_each_line(const std::string& name,
                              const std::function<void(const std::string&)>& take) const {
  const auto written = files_.find(name);
  if (written == files_.end()) return;
  read_lines(path_ / name, written->second.bytes, take);
}

const OpenFile& RunFolder::opened(const std::string& name, Written& written) {
  if (!written.open) {
    written.open = disk_->open_to_append(path_ / name);
    has_new_names_ = true;
  }
  return written.open;
}

RunFolder::Written& RunFolder::write(const std::string& name, std::string_view lines) {
  Written& written = files_[name];
  if (lines.empty()) return written;
  disk_->append(opened(name, written), lines, path_ / name);
  written.bytes += lines.size();
  written.forced = false;
  return written;
}

void RunFolder::append(const std::string& name, std::string_view lines) {
  // An empty file of a name that a run need not have is not made.
  if (!lines.empty()) write(name, lines).checksum.update(lines);
}

void RunFolder::append_answers(std::string_view events, std::string_view samples) {
  const std::array<ChecksumPiece, 2> pieces{{{&write("events.jsonl", events).checksum, events},
                                             {&write("samples.jsonl", samples).checksum, samples}}};
  update_together(pieces);
}

void RunFolder::buffer_events(std::size_t sample, std::string_view events) {
  append(waiting_name(sample), events);
}

std::uint64_t RunFolder::flush_events(std::size_t sample, std::string_view events) {
  const std::uint64_t before = files_["events.jsonl"].bytes;
  const std::string name = waiting_name(sample);
  if (const auto waiting = files_.find(name); waiting != files_.end()) {
    read_start(path_ / name, waiting->second.bytes,
               [&](std::string_view bytes) { append("events.jsonl", bytes); });
    released_.push_back(name);
    files_.erase(waiting);
  }
  append("events.jsonl", events);
  return files_["events.jsonl"].bytes - before;
}

void RunFolder::save_checkpoint(nlohmann::json state) {
  state_ = std::move(state);
  write_checkpoint();
}

void RunFolder::write_checkpoint() {
  nlohmann::json json{{"state", *state_}};
  for (auto& [name, written] : files_) {
    if (!written.forced) disk_->force(opened(name, written), path_ / name);
    written.forced = true;
    json["files"][name] = {{"bytes", written.bytes}, {"seal", written.checksum.value()}};
  }
  // A checkpoint must not outlast the name of a file that it seals.
  if (has_new_names_) disk_->force_names(path_);
  has_new_names_ = false;
  if (summary_) json["summary"] = *summary_;
  const std::string text = json.dump();
  const Checksum checksum = checksum_of(config_, text);
  disk_->replace(path_ / "checkpoint", hexadecimal(checksum) + '\n' + text);
  journal_.remove();
  journal_ = Journal(path_, checksum, *disk_);
  for (const std::string& name : released_) disk_->remove(path_ / name);
  released_.clear();
}

RunSpeed RunFolder::speed() const {
  const fs::path file = path_ / "speed.json";
  if (!is_there(file)) return {};
  return RunSpeed::from_json(parse_json(read_whole(file), file.string()), file.string());
}

RunSpeed RunFolder::speed_or_none(const std::function<void(const std::string&)>& say) const {
  try {
    return speed();
  } catch (const BadInput& damage) {
    if (say) say(damage.what());
    return {};
  }
}

void RunFolder::write_speed(const nlohmann::ordered_json& speed) {
  disk_->replace(path_ / "speed.json", speed.dump(1) + "\n");
}

void RunFolder::finish(const nlohmann::ordered_json& summary, nlohmann::json state) {
  summary_ = readable_json(summary) + "\n";
  if (!state.is_null()) state_ = std::move(state);
  if (!state_) state_ = nlohmann::json::object();
  write_checkpoint();
  write_summary();
}

void RunFolder::write_summary() { disk_->replace(path_ / "summary.json", *summary_); }

}  // namespace tempera::gpu
