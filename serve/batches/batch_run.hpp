#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/session/session.hpp"
#include "runs/run_folder.hpp"
#include "runs/shard.hpp"
#include "serve/batches/batch.hpp"
#include "serve/batches/batch_shards.hpp"
#include "serve/batches/stored_files.hpp"
#include "serve/sessions/generation.hpp"

namespace tempera::serve {

/// The share of all lines of all batches: they have together what one client has.
inline constexpr gpu::Share batches_share{1, 0};

/// What all generations of a server are made with.
struct GenerationMakings {
  const gpu::OpenedModel& model;
  const Identity& identity;
  Counters& counters;
  const GenerationLimits& limits;
  /// A message without any path of this machine.
  std::function<std::string(std::string)> without_paths;
  /// The digest of the model's files, which is the same for all shards of a batch; empty without
  /// shards.
  std::string model_digest = {};
  std::size_t checkpoint_bytes = std::size_t{8} << 20;  ///< of the journal between two checkpoints
  std::chrono::milliseconds until_retry{2000};          ///< after the disk has failed
  std::chrono::milliseconds until_look{500};  ///< between two looks at what other servers have done
  /// Hears of each batch that has ended, on the session's thread.
  std::function<void(const Batch&)> ended = {};
};

/// A batch that is being drawn. Its run folder holds every line that has been answered, and every
/// round of those that are under way, so that a process killed at any moment loses no round.
///
/// In the folder: config.json says what the batch is and which server began it; samples.jsonl has
/// the answers in the order of the input; the journal has what has happened since the checkpoint.
/// Several servers can draw the lines of one batch: they are dealt to N shards, each in a run
/// folder of its own in this one, and the server of shard 1 takes the others' answers once they are
/// whole.
///
/// An answer is a function of its line, the batch's seed and the model, so a batch that was killed
/// has the bytes of one that was not. All of it belongs to the session's thread.
class BatchRun final : public std::enable_shared_from_this<BatchRun> {
 public:
  /// Resumes the folder as it is, as the server of this shard.
  /// @throw BadInput if the folder or the input cannot be read, or it was dealt to other shards
  BatchRun(const GenerationMakings& makings, StoredFiles& files,
           const std::filesystem::path& folder, const gpu::Shard& shard, Disk& disk);
  ~BatchRun();
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;

  const Batch& batch() const { return batch_; }
  /// The batch as clients see it: with what other shards have answered so far.
  Batch shown();
  /// Keeps what has ended, and begins lines while fewer than `window` choices are under way. True
  /// if it can do more at once.
  /// @throw BadInput if the disk takes no more: make a new BatchRun of the folder later
  bool advance(gpu::Session& session, std::size_t window);
  /// Whether its own lines are answered, and other servers still draw theirs.
  bool is_waiting_for_shards() const { return is_waiting_for_shards_ && !batch_.is_over(); }
  /// Ends the batch with what has been answered.
  /// @throw BadInput as advance
  void cancel(gpu::Session& session);
  /// Makes a checkpoint, so that the next process begins there.
  void save();
  /// Forgets what is under way; the folder keeps it.
  void stop(gpu::Session& session);

 private:
  struct Line;
  struct Answer {
    std::size_t line = 0;
    HttpResponse response;
  };

  void deal_lines();
  bool is_written(std::size_t line) const { return offset_of_[line] < written_; }
  void take_shards();
  void restore(const nlohmann::json& entry, const std::string& where);
  void take_rounds(const nlohmann::json& entry, const std::string& where);
  void begin(gpu::Session& session, std::size_t line);
  std::string id_of(std::size_t line) const;
  nlohmann::ordered_json result_of(std::size_t line, const HttpResponse& response) const;
  void keep_news();
  void keep(std::size_t line, nlohmann::ordered_json result);
  void end(const std::string& status);

  const GenerationMakings& makings_;
  StoredFiles& files_;
  const std::filesystem::path batch_folder_;  ///< which has the shards' folders in it
  const gpu::Shard shard_;
  gpu::RunFolder folder_;
  Batch batch_;
  std::uint64_t seed_ = 0;
  bool is_same_server_ = false;  ///< whether the kept rounds are of this model and version
  std::string input_;
  std::vector<InputLine> lines_;
  std::vector<std::vector<std::size_t>> dealt_;  ///< the lines of each shard, ascending
  std::vector<std::size_t> order_;               ///< the lines of samples.jsonl
  std::vector<std::size_t> offset_of_;           ///< of each line in it; beyond all if it has none
  std::set<std::size_t> taken_;                  ///< shards whose answers are here
  AnswersElsewhere elsewhere_;
  bool is_waiting_for_shards_ = false;
  std::size_t written_ = 0;  ///< answers in samples.jsonl
  std::size_t next_ = 0;     ///< of this shard's lines, the first neither begun nor answered
  std::map<std::size_t, nlohmann::ordered_json> answered_;         ///< beyond those, by line
  std::map<std::size_t, std::map<std::size_t, KeptChoice>> kept_;  ///< rounds, by line and choice
  std::map<std::size_t, std::shared_ptr<Line>> under_way_;
  std::vector<Answer> news_;
  std::vector<std::string> rounds_;   ///< lines for the journal
  std::size_t choices_ = 0;           ///< under way
  std::size_t since_checkpoint_ = 0;  ///< bytes
  std::int64_t forced_at_ = 0;
};

}  // namespace tempera::serve
