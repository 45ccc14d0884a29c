#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/jobs/run_folder.hpp"
#include "gpu/session/session.hpp"
#include "serve/batches/batch.hpp"
#include "serve/batches/stored_files.hpp"
#include "serve/sessions/generation.hpp"

namespace tempera::serve {

/// What all generations of a server are made with.
struct GenerationMakings {
  const gpu::OpenedModel& model;
  const Identity& identity;
  Counters& counters;
  const GenerationLimits& limits;
  /// A message without the place of anything on this machine.
  std::function<std::string(std::string)> without_paths;
};

/// A batch that is being drawn. Its run folder holds every line that has been answered, and every
/// round of those that are under way, so that a process killed at any moment loses no round.
///
/// In the folder: config.json says what the batch is and which server began it; samples.jsonl has
/// the answers in the order of the input; the journal has what has happened since the checkpoint.
/// An answer is a function of its line, the batch's seed and the model, so a batch that was killed
/// has the bytes of one that was not. All of it belongs to the session's thread.
class BatchRun final : public std::enable_shared_from_this<BatchRun> {
 public:
  /// Makes the run folder of a new batch.
  /// @throw BadInput if the disk does not take it
  static void create(const std::filesystem::path& folder, const Batch& batch, Disk& disk);
  /// The batch of a folder: what config.json and, if it is over, summary.json say.
  /// @throw BadInput if they are not as create and advance have written them
  static Batch read(const gpu::RunFolder& folder);

  /// Takes the folder up where it is.
  /// @throw BadInput if the folder or the input cannot be read
  BatchRun(const GenerationMakings& makings, StoredFiles& files,
           const std::filesystem::path& folder, Disk& disk);
  ~BatchRun();
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;

  const Batch& batch() const { return batch_; }
  /// Keeps what has ended, and begins lines while fewer than `window` choices are under way. True
  /// if it can do more at once.
  /// @throw BadInput if the disk takes no more: make a new BatchRun of the folder later
  bool advance(gpu::Session& session, std::size_t window);
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

  void restore(const nlohmann::json& entry, const std::string& where);
  void take_rounds(const nlohmann::json& entry, const std::string& where);
  void begin(gpu::Session& session, std::size_t line);
  nlohmann::ordered_json result_of(std::size_t line, const HttpResponse& response) const;
  void keep_news();
  void keep(std::size_t line, nlohmann::ordered_json result);
  void end(const std::string& status);

  const GenerationMakings& makings_;
  StoredFiles& files_;
  gpu::RunFolder folder_;
  Batch batch_;
  std::uint64_t seed_ = 0;
  bool is_same_server_ = false;  ///< whether the kept rounds are of this model and version
  std::string input_;
  std::vector<std::string_view> lines_;
  std::size_t written_ = 0;  ///< lines whose answers are in samples.jsonl
  std::size_t next_ = 0;     ///< the first line that has neither begun nor been answered
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
