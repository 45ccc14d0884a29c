#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runs/shard_claim.hpp"
#include "serve/batches/batch_run.hpp"

namespace tempera::serve {

/// The files and batches of a server, in one folder: FOLDER/files and FOLDER/batches, a run folder
/// for each batch. Batches are drawn one after the other, beside the requests of clients.
///
/// A full disk stops no server: the batch waits and is resumed from its folder, where
/// everything up to that moment is.
class Batches {
 public:
  /// Resumes what an earlier process has left. Of several servers that share the folder each has
  /// one shard of every batch: that of shard 1 is asked by clients, and the others draw for it.
  /// @throw BadInput if the folder cannot be used, or another process holds it or has the shard
  Batches(std::filesystem::path folder, GenerationMakings makings, const gpu::Shard& shard = {1, 1},
          Disk& disk = Disk::owners());

  StoredFiles& files() { return files_; }
  /// Any thread may call these four. `wake` of Server makes the session's thread look.
  /// @throw BadInput if the input file is not there, or the disk does not take the batch
  Batch create(const std::string& input_file, const std::string& endpoint,
               nlohmann::ordered_json metadata);
  std::optional<Batch> find(const std::string& id) const;
  std::vector<Batch> list() const;  ///< newest first
  /// What the batch is then; it ends on the session's thread.
  std::optional<Batch> cancel(const std::string& id);
  /// Whether a batch that is not over needs this file.
  bool is_needed(const std::string& file) const;

  /// On the session's thread, after each pass: true if there is more to do at once.
  bool advance(gpu::Session& session, std::size_t window);
  /// Whether a batch waits for the disk, so that advance() should be called from time to time.
  bool is_waiting() const { return is_waiting_ || is_waiting_for_others_; }
  /// Whether clients ask this server for files and batches.
  bool is_asked() const { return shard_.number == 1; }
  /// On the session's thread: what is under way is forgotten, and resumed from the folder later.
  /// The disk is full, say.
  void wait(gpu::Session& session, const std::string& why);
  /// On the session's thread, before the server ends.
  void save(gpu::Session& session);

 private:
  void take_up();
  void look_for_batches();
  bool is_over_elsewhere(const std::string& id) const;
  std::filesystem::path folder_of(const std::string& id) const { return folder_ / "batches" / id; }
  /// The file that says that a client has cancelled the batch, until it has ended.
  std::filesystem::path cancelled_mark(const std::string& id) const {
    return folder_ / "batches" / (id + ".cancelled");
  }
  void forget_mark(const std::string& id);
  void show(const Batch& batch);
  template <class Work>
  auto while_held(const Work& work) {
    return claim_ ? claim_->while_held(work) : work();
  }

  const std::filesystem::path folder_;
  const gpu::Shard shard_;
  const std::unique_ptr<gpu::ShardClaim> claim_;  ///< of several servers' one
  const std::unique_ptr<Disk> claimed_;
  Disk& disk_;
  OpenFile lock_;
  StoredFiles files_;
  const GenerationMakings makings_;

  mutable std::mutex mutex_;
  std::map<std::string, Batch> batches_;
  std::deque<std::string> waiting_;  ///< not over, in the order of their making
  std::set<std::string> to_cancel_;

  std::shared_ptr<BatchRun> run_;  ///< the session's thread's own
  std::atomic<bool> is_waiting_{false};
  /// Whether other servers have to do something first, which only looking shows.
  std::atomic<bool> is_waiting_for_others_{false};
  /// Both are times of a clock that nobody sets.
  std::chrono::steady_clock::time_point wait_until_ = {};
  std::chrono::steady_clock::time_point look_at_ = {};
  std::string said_waits_;  ///< the batch of which was said that it waits for shards
};

}  // namespace tempera::serve
