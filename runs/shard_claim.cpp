#include "runs/shard_claim.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/disk.hpp"
#include "base/error.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

/// A line of a file of the system's; empty if there is none.
std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// What tells a running system, and the processes that it numbers, from all others.
std::string system_name() {
  std::error_code error;
  const fs::path processes = fs::read_symlink("/proc/self/ns/pid", error);
  // If two have clocks of their own, a process of one began at another time for the other.
  const fs::path clocks = fs::read_symlink("/proc/self/ns/time", error);
  return first_line("/proc/sys/kernel/random/boot_id") + " " + processes.string() + " " +
         clocks.string();
}

/// When a process began, in the system's own unit; empty if none has this number, or it has
/// ended and only its parent has not asked for its exit code.
std::string start_of(std::uint64_t process) {
  const std::string line = first_line("/proc/" + std::to_string(process) + "/stat");
  // The name, in brackets, may hold anything; the 20th field after it is the start.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return "";
  for (int i = 1; i < 20; ++i) fields >> field;
  return field;
}

fs::path claim_file(const fs::path& folder, const Shard& shard, std::uint64_t generation) {
  return folder / (shard.folder_name() + "." + std::to_string(generation));
}

}  // namespace

/// What a claim's file says.
struct ShardClaim::Owner {
  std::string host = "unknown";
  std::uint64_t process = 0;
  std::string system;
  std::string start;
  std::uint64_t beats = 0;
  bool has_ended = false;

  /// Reads the owner; a file that is about to be written, or is damaged, gives one without a name.
  static Owner read(const fs::path& file) {
    const nlohmann::json json = nlohmann::json::parse(first_line(file), nullptr, false);
    Owner owner;
    if (!json.is_object()) return owner;
    owner.host = json.value("host", "unknown");
    owner.process = json.value("process", std::uint64_t{0});
    owner.system = json.value("system", "");
    owner.start = json.value("start", "");
    owner.beats = json.value("beats", std::uint64_t{0});
    owner.has_ended = json.value("has_ended", false);
    return owner;
  }
  /// Whether it was a process of this machine that is no more.
  bool is_known_dead() const {
    return !start.empty() && system == system_name() && start_of(process) != start;
  }
  std::string name() const { return "process " + std::to_string(process) + " on " + host; }
};

ShardClaim::ShardClaim(const fs::path& run, const Shard& shard,
                       const std::function<void(const std::string&)>& say, ClaimTimes times)
    : folder_(run / "claims"),
      shard_(shard),
      shard_folder_(run / shard.folder_name()),
      times_(std::move(times)) {
  Disk::real().make_folders(folder_);
  std::optional<std::uint64_t> silent_at;
  for (generation_ = 1; !try_to_make(generation_); ++generation_)
    silent_at = wait_for_end(generation_, say);
  const bool may_live = silent_at && Owner::read(file(generation_ - 1)).beats != *silent_at;
  beaten_at_ = steady_clock::now();
  beat(false);
  thread_ = std::thread([this] { beat_until_end(); });
  // It counted before it could see this claim, and looks for one only when it counts again.
  if (may_live) times_.wait(times_.patience / 2);
}

ShardClaim::~ShardClaim() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ending_.notify_all();
  thread_.join();
  try {
    beat(true);
  } catch (const BadInput&) {
    // Whoever comes next looks whether this process lives.
  }
}

fs::path ShardClaim::file(std::uint64_t generation) const {
  return claim_file(folder_, shard_, generation);
}

ShardClaim::Seen ShardClaim::look(const fs::path& run, const Shard& shard) {
  Seen seen;
  const fs::path folder = run / "claims";
  while (is_there(claim_file(folder, shard, seen.generation + 1))) ++seen.generation;
  if (seen.generation == 0) return seen;
  const Owner owner = Owner::read(claim_file(folder, shard, seen.generation));
  seen.beats = owner.beats;
  seen.has_ended = owner.has_ended || owner.is_known_dead();
  return seen;
}

/// Whether this process has made the file of this generation, and so has the shard.
bool ShardClaim::try_to_make(std::uint64_t generation) {
  const fs::path path = file(generation);
  const OpenFile made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (made) return true;
  if (errno == EEXIST) return false;
  throw BadInput(path.string(), "cannot be made " + reason(errno),
                 "check the permissions and the disk's space");
}

/// Waits until it is known whether the owner of this generation is at work. The result is the
/// number that did not grow; nothing if it is sure that it has ended.
/// @throw BadInput if it is at work
std::optional<std::uint64_t> ShardClaim::wait_for_end(
    std::uint64_t generation, const std::function<void(const std::string&)>& say) {
  const auto is_sure = [&](const Owner& owner) {
    return owner.has_ended || owner.is_known_dead() || is_there(file(generation + 1));
  };
  const Owner first = Owner::read(file(generation));
  if (is_sure(first)) return std::nullopt;
  const std::string seconds = std::to_string(times_.patience.count() / 1000) + " s";
  if (say)
    say("shard " + shard_.text() + " is claimed by " + first.name() + "; looking for up to " +
        seconds + " whether it is at work");
  const auto begin = steady_clock::now();
  while (steady_clock::now() - begin < times_.patience) {
    times_.wait(times_.beat / 8);
    const Owner now = Owner::read(file(generation));
    if (is_sure(now)) return std::nullopt;
    if (now.beats > first.beats) refuse(now);
  }
  if (say)
    say("takes shard " + shard_.text() + " over from " + first.name() +
        ", which showed no life for " + seconds);
  return first.beats;
}

void ShardClaim::refuse(const Owner& owner) const {
  throw BadInput(shard_folder_.string(), "is being drawn by " + owner.name(),
                 "let it finish, or end it first; each shard is drawn by one process");
}

std::string ShardClaim::text(bool has_ended) const {
  const auto process = static_cast<std::uint64_t>(::getpid());
  return nlohmann::ordered_json{{"host", host_name()},     {"process", process},
                                {"system", system_name()}, {"start", start_of(process)},
                                {"beats", beats_},         {"has_ended", has_ended}}
             .dump() +
         "\n";
}

/// Shows that this process lives, or has ended. Readers open the file anew, and the writer closes
/// it: that is what shared file systems promise to show.
void ShardClaim::beat(bool has_ended) {
  const std::lock_guard lock(mutex_);
  const auto begun = steady_clock::now();
  ++beats_;
  const std::string line = text(has_ended);
  const fs::path path = file(generation_);
  const OpenFile open(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!open ||
      ::pwrite(open.descriptor(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()))
    throw BadInput(path.string(), "cannot be written " + reason(errno),
                   "check the permissions and the disk's space");
  // After a stall a beat may come before a write: it must not hide that the shard is another's.
  is_lost_ = is_taken_over();
  beaten_at_ = begun;
}

void ShardClaim::beat_until_end() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, times_.beat, [this] { return is_ending_; })) {
    lock.unlock();
    try {
      beat(false);
    } catch (const BadInput&) {
      // require_held finds the beat missing, and tries once more.
    }
    lock.lock();
  }
}

bool ShardClaim::is_taken_over() const { return is_there(file(generation_ + 1)); }

void ShardClaim::refuse_as_lost() const {
  throw ClaimLost(shard_folder_.string() + ": was taken over by " +
                  Owner::read(file(generation_ + 1)).name() +
                  " while this process stood still; the work continues there, and nothing is lost");
}

void ShardClaim::require_held() {
  {
    const std::lock_guard lock(mutex_);
    if (!is_lost_ && steady_clock::now() - beaten_at_ < times_.patience / 2) return;
  }
  if (!is_taken_over()) beat(false);
  if (is_taken_over()) refuse_as_lost();
}

}  // namespace tempera::gpu
