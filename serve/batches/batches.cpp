#include "serve/batches/batches.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/regular_file.hpp"
#include "serve/batches/batch_folder.hpp"
#include "serve/protocol/fresh_id.hpp"

namespace tempera::serve {
namespace {

namespace fs = std::filesystem;

using std::chrono::steady_clock;

/// The folder with those in it, of which what clients have sent is for the server's user alone.
fs::path made(const fs::path& folder) {
  require_no_special_file(folder, "folder");
  for (const char* name : {"batches", "files"}) {
    const fs::path part = folder / name;
    Disk::owners().make_folders(part);
    std::error_code error;
    // Those of an earlier version were open to all.
    if (fs::status(part, error).permissions() != fs::perms::owner_all && !error)
      fs::permissions(part, fs::perms::owner_all, error);
    if (error)
      throw BadInput(part.string(), "cannot be kept from others (" + error.message() + ")",
                     "give --batch-folder a folder of your own");
  }
  return folder;
}

void say(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

}  // namespace

Batches::Batches(fs::path folder, GenerationMakings makings, const gpu::Shard& shard, Disk& disk)
    : folder_(made(folder)),
      shard_(shard),
      claim_(shard.of > 1 ? std::make_unique<gpu::ShardClaim>(folder_, shard, say) : nullptr),
      claimed_(claim_ ? std::make_unique<gpu::ClaimedDisk>(*claim_, Disk::of_owner) : nullptr),
      disk_(claimed_ ? *claimed_ : disk),
      files_(is_asked() ? StoredFiles(folder_ / "files", disk_)
                        : StoredFiles::of_another(folder_ / "files", disk_)),
      makings_(std::move(makings)) {
  if (is_asked()) {
    take_up();
  } else {
    is_waiting_for_others_ = true;
  }
}

void Batches::take_up() {
  lock_ = disk_.open_to_append(folder_ / "lock");
  if (::flock(lock_.descriptor(), LOCK_EX | LOCK_NB) != 0)
    throw BadInput(folder_.string(), "another server is at work there",
                   "give --batch-folder another folder, or stop that server");
  std::error_code error;
  for (fs::directory_iterator entry(folder_ / "batches", error), end; !error && entry != end;
       entry.increment(error)) {
    // A batch without config.json was never acknowledged: its process was killed before.
    if (!is_there(entry->path() / "config.json")) continue;
    Batch batch{.id = entry->path().filename().string()};
    try {
      batch = read_batch(gpu::RunFolder::open(entry->path(), disk_));
    } catch (const BadInput& damage) {
      batch.status = "failed";
      batch.errors = {{.message = makings_.without_paths(damage.what())}};
    }
    if (!batch.is_over()) waiting_.push_back(batch.id);
    if (is_there(cancelled_mark(batch.id))) {
      if (batch.is_over()) {
        forget_mark(batch.id);
      } else {
        batch.status = "cancelling";
        to_cancel_.insert(batch.id);
      }
    }
    batches_[batch.id] = std::move(batch);
  }
  if (error)
    throw BadInput(folder_.string(), "cannot be read (" + error.message() + ")",
                   "give --batch-folder a folder that you may read");
  std::stable_sort(waiting_.begin(), waiting_.end(), [this](const auto& a, const auto& b) {
    return batches_.at(a).created < batches_.at(b).created;
  });
}

Batch Batches::create(const std::string& input_file, const std::string& endpoint,
                      nlohmann::ordered_json metadata) {
  if (!files_.find(input_file))
    throw BadInput("input_file_id", "there is no such file", "POST it to /v1/files first");
  const std::string content = files_.content(input_file);
  Batch batch{
      .id = fresh_id("batch_"), .endpoint = endpoint, .input_file = input_file, .created = now()};
  batch.metadata = std::move(metadata);
  batch.errors = errors_in(content, endpoint);
  if (!batch.errors.empty()) {
    // Nothing was begun, so nothing is kept of it beyond this process.
    batch.status = "failed";
    batch.ended = batch.created;
    show(batch);
    return batch;
  }
  batch.total = lines_of(content).size();
  create_batch_folder(folder_of(batch.id), batch, shard_.of, disk_);
  const std::scoped_lock lock(mutex_);
  batches_[batch.id] = batch;
  waiting_.push_back(batch.id);
  return batch;
}

std::optional<Batch> Batches::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = batches_.find(id);
  return found == batches_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Batch> Batches::list() const {
  std::vector<Batch> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, batch] : batches_) all.push_back(batch);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Batch& a, const Batch& b) { return a.created > b.created; });
  return all;
}

std::optional<Batch> Batches::cancel(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto found = batches_.find(id);
  if (found == batches_.end()) return std::nullopt;
  if (!found->second.is_over()) {
    found->second.status = "cancelling";
    to_cancel_.insert(id);
    try {
      // A server that is killed before the session's thread has heard of it must not go on.
      disk_.replace(cancelled_mark(id), "");
    } catch (const BadInput& error) {
      say(error.what());  // the disk is full, say: this process ends it all the same
    }
  }
  return found->second;
}

void Batches::forget_mark(const std::string& id) {
  try {
    disk_.remove(cancelled_mark(id));
  } catch (const BadInput& error) {
    say(error.what());  // the next process does it
  }
}

bool Batches::is_needed(const std::string& file) const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(batches_.begin(), batches_.end(), [&](const auto& entry) {
    return !entry.second.is_over() && entry.second.input_file == file;
  });
}

void Batches::show(const Batch& batch) {
  const std::scoped_lock lock(mutex_);
  Batch& shown = batches_[batch.id];
  const bool is_cancelling = to_cancel_.contains(batch.id) && !batch.is_over();
  shown = batch;
  if (is_cancelling) shown.status = "cancelling";
}

/// Finds what clients have given the server of shard 1, in the order of their making.
void Batches::look_for_batches() {
  std::error_code error;
  for (fs::directory_iterator entry(folder_ / "batches", error), end; !error && entry != end;
       entry.increment(error)) {
    Batch batch{.id = entry->path().filename().string()};
    const fs::path own = entry->path() / shard_.folder_name() / "summary.json";
    if (batches_.contains(batch.id) || !is_there(entry->path() / "config.json") ||
        is_over_elsewhere(batch.id) || is_there(own))
      continue;
    const auto config = read_json_file(entry->path() / "config.json");
    const JsonObject object(config, (entry->path() / "config.json").string());
    batch.created = static_cast<std::int64_t>(
        object.whole_number("created_at", 0, std::numeric_limits<std::int64_t>::max()));
    waiting_.push_back(batch.id);
    batches_[batch.id] = std::move(batch);
  }
  std::stable_sort(waiting_.begin(), waiting_.end(), [this](const auto& a, const auto& b) {
    return batches_.at(a).created < batches_.at(b).created;
  });
}

/// Whether the server of shard 1 has ended the batch: clients may cancel one.
bool Batches::is_over_elsewhere(const std::string& id) const {
  return is_there(folder_of(id) / "summary.json");
}

bool Batches::advance(gpu::Session& session, std::size_t window) {
  const auto time = steady_clock::now();
  if (is_waiting_ && time < wait_until_) return false;
  if (!is_asked() && time >= look_at_) {
    try {
      if (run_ && is_over_elsewhere(run_->batch().id)) {
        run_->stop(session);
        std::erase(waiting_, run_->batch().id);
        run_.reset();
      }
      look_for_batches();
    } catch (const BadInput& error) {
      say(error.what());
    }
    look_at_ = time + makings_.until_look;
  }
  if (is_asked() && is_waiting_for_others_ && time < look_at_) return false;
  std::string id;
  bool is_cancelled = false;
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return false;
    // One that is to end does so first: it may wait for its turn.
    const auto first = std::find_if(waiting_.begin(), waiting_.end(),
                                    [this](const auto& name) { return to_cancel_.contains(name); });
    is_cancelled = first != waiting_.end();
    id = run_ && !is_cancelled ? run_->batch().id : is_cancelled ? *first : waiting_.front();
  }
  try {
    std::shared_ptr<BatchRun> run = run_;
    const bool is_more = while_held([&] {
      if (!run || run->batch().id != id)
        run = std::make_shared<BatchRun>(makings_, files_, folder_of(id), shard_, disk_);
      if (!is_cancelled) run_ = run;
      is_waiting_ = false;
      if (!is_cancelled) return run->advance(session, window);
      run->cancel(session);
      return false;
    });
    show(run->shown());
    if (is_asked()) {
      is_waiting_for_others_ = run->is_waiting_for_shards();
      look_at_ = time + makings_.until_look;
      if (is_waiting_for_others_ && said_waits_ != id)
        say(id + " waits for the servers of its other shards; each is tempera serve --shard I/" +
            std::to_string(shard_.of) + " with this --batch-folder");
      if (is_waiting_for_others_) said_waits_ = id;
    }
    if (!run->batch().is_over()) return is_more;
    if (run_ == run) run_.reset();
    const std::scoped_lock lock(mutex_);
    std::erase(waiting_, id);
    if (to_cancel_.erase(id) > 0) forget_mark(id);
    return !waiting_.empty();
  } catch (const std::exception& error) {
    wait(session, error.what());
    {
      // Others may go on: it is this batch alone whose input is gone, say.
      const std::scoped_lock lock(mutex_);
      std::erase(waiting_, id);
      waiting_.push_back(id);
    }
    if (auto batch = find(id)) {
      batch->errors = {{.message = makings_.without_paths(error.what())}};
      show(*batch);
    }
    return false;
  }
}

void Batches::wait(gpu::Session& session, const std::string& why) {
  say("a batch waits: " + why);
  if (run_) run_->stop(session);
  run_.reset();
  is_waiting_ = true;
  wait_until_ = steady_clock::now() + makings_.until_retry;
}

void Batches::save(gpu::Session& session) {
  if (!run_) return;
  try {
    run_->stop(session);
    run_->save();
  } catch (const std::exception& error) {
    say(std::string("a batch could not write a checkpoint, and continues from its journal:  ") +
        error.what());
  }
  run_.reset();
}

}  // namespace tempera::serve
