#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "runs/shard.hpp"

namespace tempera::gpu {

/// How long claims take to be given up.
struct ClaimTimes {
  std::chrono::milliseconds beat{3000};  ///< how often an owner shows that it lives
  /// How long another machine looks at a claim that shows no life before it takes the shard over.
  std::chrono::milliseconds patience{30000};
  /// How a newcomer waits.
  std::function<void(std::chrono::milliseconds)> wait = [](std::chrono::milliseconds time) {
    std::this_thread::sleep_for(time);
  };
};

/// Another process has taken the shard over, because this one seemed dead: it must write no more.
class ClaimLost final : public std::exception {
 public:
  explicit ClaimLost(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// The right to draw a shard, which one process at a time has, on any machine that shares the run's
/// folder. It needs no lock that works between machines and no clock that two machines share.
///
/// Claims of a shard are files RUN/claims/shard-I-of-N.1, .2, …, each made by an exclusive
/// creation, which shared file systems grant to one process only; the owner is who made the last.
/// While it lives it counts up a number in its file. Whoever wants the shard finds the last file,
/// and
/// - takes over at once if its owner has ended, or was a process of this machine that is no more;
/// - is refused as soon as it sees the number grow;
/// - takes over if it sees no growth for the patience, by its own clock,
/// by creating the next file, which only one can. An owner looks for a next file whenever it has
/// counted, and if it could not count for half of the patience, because its disk or its machine
/// stalled, before it writes again. So whoever took over from one that showed no life looks once
/// more at its number: if that has grown, it lives, and may write for half of the patience until it
/// looks. Its successor waits for that long.
class ShardClaim {
 public:
  /// `say` hears if another's claim has to be watched, and if it is then taken over.
  /// @throw BadInput if another process has the shard, or the claim cannot be written
  ShardClaim(const std::filesystem::path& run, const Shard& shard,
             const std::function<void(const std::string&)>& say = {}, ClaimTimes times = {});
  ~ShardClaim();
  ShardClaim(const ShardClaim&) = delete;
  ShardClaim& operator=(const ShardClaim&) = delete;

  /// To be called before anything is written to the shard's folder.
  /// @throw ClaimLost if another process has taken the shard over
  /// @throw BadInput if that cannot be found out
  void require_held();
  /// Does work on the shard's folder. Its new owner changes and removes files, so what fails once
  /// the shard is another's, such as a read, fails as that.
  /// @throw ClaimLost instead of BadInput, if another process has taken the shard over
  template <class Work>
  auto while_held(const Work& work) {
    try {
      return work();
    } catch (const BadInput&) {
      if (is_taken_over()) refuse_as_lost();
      throw;
    }
  }

  /// What another process can see of the last claim of a shard.
  struct Seen {
    std::uint64_t generation = 0;  ///< 0: there is none
    std::uint64_t beats = 0;
    bool has_ended = false;  ///< whether its owner said so, or is a dead process of this machine
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  static Seen look(const std::filesystem::path& run, const Shard& shard);

 private:
  struct Owner;

  std::filesystem::path file(std::uint64_t generation) const;
  bool try_to_make(std::uint64_t generation);
  std::optional<std::uint64_t> wait_for_end(std::uint64_t generation,
                                            const std::function<void(const std::string&)>& say);
  std::string text(bool has_ended) const;
  void beat(bool has_ended);
  void beat_until_end();
  [[noreturn]] void refuse(const Owner& owner) const;
  bool is_taken_over() const;
  [[noreturn]] void refuse_as_lost() const;

  std::filesystem::path folder_;
  Shard shard_;
  std::filesystem::path shard_folder_;
  ClaimTimes times_;
  std::uint64_t generation_ = 0;
  std::mutex mutex_;  ///< of what follows
  std::uint64_t beats_ = 0;
  std::chrono::steady_clock::time_point beaten_at_;
  bool is_lost_ = false;
  bool is_ending_ = false;
  std::condition_variable ending_;
  std::thread thread_;
};

/// A disk that writes for a claim's owner only.
class ClaimedDisk final : public Disk {
 public:
  explicit ClaimedDisk(ShardClaim& claim, mode_t permissions = of_all)
      : Disk(permissions), claim_(claim) {}
  bool is_claimed() const override { return true; }

 protected:
  int before(const char* /*operation*/, const std::filesystem::path& /*file*/) override {
    claim_.require_held();
    return 0;
  }

 private:
  ShardClaim& claim_;
};

}  // namespace tempera::gpu
