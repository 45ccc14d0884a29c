#include "runs/merge.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "runs/background_worker.hpp"
#include "runs/held_runs.hpp"
#include "runs/part_line.hpp"
#include "runs/run_folder.hpp"
#include "runs/run_report.hpp"
#include "runs/shard.hpp"
#include "runs/shard_reader.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

/// The folder in which a merge is made before it gets its name: this process's own.
fs::path unfinished_name(const fs::path& merged) {
  return merged.string() + ".unfinished-" + std::to_string(::getpid());
}

void remove_unfinished(const fs::path& folder, Disk& disk) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    files.push_back(entry->path());
  for (const fs::path& file : files) disk.remove(file);
  disk.remove(folder);
}

/// Removes what merges have left that were killed.
void remove_strays(const fs::path& merged, Disk& disk) {
  const std::string begin = merged.filename().string() + ".unfinished-";
  std::error_code error;
  std::vector<fs::path> strays;
  const fs::path beside = merged.has_parent_path() ? merged.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(beside, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with(begin)) strays.push_back(entry->path());
  for (const fs::path& stray : strays) {
    // Whoever is at work in it holds the folder's lock.
    try {
      if (is_there(stray / "config.json")) RunFolder::open(stray);
    } catch (const BadInput&) {
      continue;
    }
    remove_unfinished(stray, disk);
  }
}

void require_all_shards(const fs::path& run, const std::vector<Shard>& shards) {
  if (shards.empty())
    throw BadInput(run.string(), "holds no shard",
                   "draw its shards first, with tempera sample --shard I/N --out " +
                       as_shell_word(run.string()));
  const std::size_t of = shards.front().of;
  for (const Shard& shard : shards)
    if (shard.of != of)
      throw BadInput(run.string(),
                     "holds shards of " + std::to_string(of) + " and of " +
                         std::to_string(shard.of) + " (" + shard.folder_name() + ")",
                     "keep those of one N, and move the others away");
  std::string missing;
  std::string first;
  std::size_t number = 0;
  std::size_t count = 0;
  const auto miss = [&](const std::string& what) {
    constexpr std::size_t most_named = 8;
    if (++count <= most_named) missing += (missing.empty() ? "" : ", ") + what;
    if (first.empty()) first = command_for(run, number, of);
  };
  auto there = shards.begin();
  for (number = 1; number <= of; ++number) {
    const bool has_folder = there != shards.end() && there->number == number;
    if (has_folder) ++there;
    const fs::path folder = run / Shard{number, of}.folder_name();
    if (!has_folder || !is_there(folder / "config.json"))
      miss("shard " + std::to_string(number) + " is missing");
    else if (!is_there(folder / "summary.json"))
      miss("shard " + std::to_string(number) + " is not finished");
  }
  if (count == 0) return;
  if (count > 8) missing += " and " + std::to_string(count - 8) + " more";
  throw BadInput(run.string(), "of its " + std::to_string(of) + " shards " + missing,
                 "make the first with: " + first);
}

/// The bytes of a shard's config.json, as JSON whose keys keep their order.
nlohmann::ordered_json config_of(const fs::path& folder) {
  const std::string file = (folder / "config.json").string();
  const std::string text = read_whole(file);
  const nlohmann::json config = parse_json(text, file);
  const auto identity = ShardIdentity::from_config(config, file);
  if (!identity || identity->shard.folder_name() != folder.filename())
    throw BadInput(file, "is not that of " + folder.filename().string(),
                   "a shard's folder keeps its name; remove a copy, and draw what is missing");
  return nlohmann::ordered_json::parse(text);
}

/// Opens the folders of some shards and checks that they belong together. What costs is to read
/// all their bytes for the seals, and then all their parts.
std::vector<ShardReader> open_shards(const std::vector<fs::path>& folders, std::size_t window,
                                     const nlohmann::json& config, const std::string& config_name,
                                     HeldRuns& held) {
  for (const fs::path& folder : folders) config_of(folder);
  const std::vector<RunFolder> opened = RunFolder::open_together(folders);
  std::vector<ShardReader> readers;
  for (std::size_t i = 0; i < opened.size(); ++i)
    readers.emplace_back(folders[i], window).check(opened[i], config, config_name, held);
  return readers;
}

/// Opens all shards of a run on several threads. What is wrong is told of the first of these.
std::vector<ShardReader> open_all(const fs::path& run, const std::vector<Shard>& shards,
                                  const nlohmann::json& config, const std::string& config_name,
                                  HeldRuns& held) {
  // Buffers of all files together take 48 MiB at most, unless there are thousands of shards.
  constexpr std::size_t most_of_buffers = std::size_t{48} << 20;
  const std::size_t window =
      std::clamp(most_of_buffers / (3 * shards.size()), std::size_t{1} << 12, std::size_t{1} << 16);
  const std::size_t threads = std::max(std::thread::hardware_concurrency(), 1U);
  constexpr std::size_t most_at_once = 8;  // which are open at the same time
  const std::size_t at_once =
      std::clamp((shards.size() + threads - 1) / threads, std::size_t{1}, most_at_once);
  std::vector<ShardReader> readers;
  readers.reserve(shards.size());
  for (auto shard = shards.begin(); shard != shards.end();) {
    std::vector<std::future<std::vector<ShardReader>>> opening;
    while (opening.size() < threads && shard != shards.end()) {
      std::vector<fs::path> folders;
      for (; folders.size() < at_once && shard != shards.end(); ++shard)
        folders.push_back(run / shard->folder_name());
      opening.push_back(std::async(std::launch::async, [&, folders = std::move(folders)] {
        return open_shards(folders, window, config, config_name, held);
      }));
    }
    for (auto& some : opening)
      for (ShardReader& reader : some.get()) readers.push_back(std::move(reader));
  }
  return readers;
}

/// Another version may write otherwise than the single run would have.
void require_version(const std::string& version, const nlohmann::json& config,
                     const std::string& file) {
  const auto identity = ShardIdentity::from_config(config, file);
  if (version.empty() || identity->version == version) return;
  throw BadInput(file, "was drawn by version " + identity->version + ", and this is " + version,
                 "merge with the program that drew the shards");
}

std::string name_of_run(const SamplingSettings& settings, std::size_t run_index) {
  const auto& id = settings.prompts[run_index / settings.samples].id;
  return "sample " + std::to_string(run_index % settings.samples) +
         (id ? " of prompt " + in_quotes(*id) : "");
}

/// Counts answers on a thread of its own, by their lines of parts.jsonl in the order of the runs.
class CountedParts {
 public:
  /// The arguments must outlive the object; what is counted of a prompt is written by `writer`.
  CountedParts(RunReport& report, const DrawSettings& draw, std::size_t runs,
               BackgroundWorker& writer, RunFolder& into)
      : report_(report),
        statistics_(draw.ladder, draw.plan),
        runs_(runs),
        writer_(writer),
        into_(into) {}

  /// file: where the line is, for messages; to outlive the object
  void add(std::string_view line, const std::string& file) {
    batch_.lines += line;
    batch_.ends.emplace_back(batch_.lines.size(), &file);
    if (batch_.lines.size() > most) count();
  }
  /// Waits until all are counted and their prompts' reports given to the writer.
  /// @throw BadInput if a line is not as tempera writes it
  void finish() {
    count();
    worker_.finish();
    write();
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 18;
  struct Batch {
    std::string lines;
    std::vector<std::pair<std::size_t, const std::string*>> ends;  ///< of each line, and its file
  };

  void count() {
    worker_.add([this, batch = std::move(batch_)] {
      std::string_view lines = batch.lines;
      std::size_t begin = 0;
      for (const auto& [end, file] : batch.ends) {
        const Part part =
            part_of(lines.substr(begin, end - begin), runs_, statistics_, LinePlace{*file});
        begin = end;
        if (const auto line = report_.take(part.run_index, statistics_, part.is_cut))
          prompt_reports_ += *line + '\n';
      }
      if (prompt_reports_.size() > most) write();
    });
    batch_ = {};
  }
  void write() {
    writer_.add([this, lines = std::move(prompt_reports_)] { into_.append_prompt_reports(lines); });
    prompt_reports_ = {};
  }

  RunReport& report_;
  TemperingStatistics statistics_;
  std::size_t runs_;
  BackgroundWorker& writer_;
  RunFolder& into_;
  std::string prompt_reports_;
  Batch batch_;
  BackgroundWorker worker_;
};

/// Copies the answers in the order of the runs: this thread puts them in order, one counts them,
/// and one writes them.
void copy(std::vector<ShardReader>& readers, RunFolder& into, const SamplingSettings& settings,
          const std::function<void(double)>& share_done) {
  const DrawSettings draw = settings.draw_settings();
  const std::vector<Prompt> prompts = settings.numbered_prompts();
  const PromptPlans plans(draw.plan, prompts);
  RunReport report(settings, draw, prompts, plans, RunReport::Of::whole_run);
  using Next = std::pair<std::size_t, ShardReader*>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const auto go_on = [&](ShardReader& reader) {
    if (const auto run_index = reader.run_index()) next.emplace(*run_index, &reader);
  };
  RunSpeed speed;
  for (ShardReader& reader : readers) {
    speed.add(reader.speed());
    go_on(reader);
  }
  const std::size_t runs = prompts.size() * settings.samples;
  BackgroundWorker writer;
  CountedParts parts(report, draw, runs, writer, into);
  constexpr std::size_t most = std::size_t{1} << 20;  // a write for each answer would take longer
  std::string events;
  std::string samples;
  const auto write = [&] {
    writer.add([&into, events = std::exchange(events, {}), samples = std::exchange(samples, {})] {
      into.append_answers(events, samples);
    });
    for (std::string* bytes : {&events, &samples}) bytes->reserve(most);
  };
  for (std::size_t run_index = 0; run_index < runs; ++run_index) {
    // Every run is held once: that was checked.
    ShardReader& reader = *next.top().second;
    if (next.top().first != run_index)
      throw Bug("a merge has taken run " + std::to_string(next.top().first) + " for " +
                std::to_string(run_index));
    next.pop();
    parts.add(reader.part_line(), reader.part_file());
    reader.take(events, samples);
    if (events.size() + samples.size() > most) write();
    go_on(reader);
    if (share_done && run_index % 256 == 0)
      share_done(static_cast<double>(run_index) / static_cast<double>(runs));
  }
  write();
  parts.finish();
  writer.finish();
  nlohmann::json state{{"under_way", nlohmann::json::array()}};
  report.add_state(state);
  into.write_speed(speed.to_json());
  into.finish(report.summary(), std::move(state));
}

}  // namespace

std::string command_for(const fs::path& run, std::size_t shard, std::size_t shards) {
  return "tempera sample --resume " + as_shell_word(run.string()) + " --shard " +
         Shard{shard, shards}.text();
}

MergedRun merge_shards(const fs::path& run, const fs::path& merged, const MergeOptions& options) {
  Disk& disk = *options.disk;
  const std::vector<Shard> shards = shards_in(run);
  require_all_shards(run, shards);
  const fs::path first = run / shards.front().folder_name();
  const nlohmann::ordered_json config = config_of(first);
  const std::string config_name = (first / "config.json").string();
  const nlohmann::json plain_config = config;
  const SamplingSettings settings = SamplingSettings::from_json(plain_config, config_name);
  const nlohmann::ordered_json whole = whole_config(config);
  MergedRun made{merged, shards.size(), settings.prompts.size(),
                 settings.prompts.size() * settings.samples};
  std::error_code error;
  if (is_there(merged) && !(fs::is_directory(merged, error) && fs::is_empty(merged, error))) {
    if (!is_there(merged / "config.json"))
      throw BadInput(merged.string(), "exists already, and is not a run's",
                     "choose another folder with --out");
    const RunFolder there = RunFolder::open(merged, disk);
    if (!there.finished() || read_whole(merged / "config.json") != whole.dump(1) + "\n")
      throw BadInput(merged.string(), "exists already, and is another run's",
                     "choose another folder with --out");
    made.was_there = true;
    return made;
  }
  require_version(options.version, plain_config, config_name);
  HeldRuns held(made.answers);
  std::vector<ShardReader> readers = open_all(run, shards, plain_config, config_name, held);
  if (const auto none = held.first_without())
    throw BadInput(run.string(), "no shard holds " + name_of_run(settings, *none),
                   "run the command of all shards again: it draws what is missing");
  remove_strays(merged, disk);
  const fs::path unfinished = unfinished_name(merged);
  try {
    {
      RunFolder into = RunFolder::create(unfinished, whole, disk);
      copy(readers, into, settings, options.share_done);
    }
    disk.rename(unfinished, merged);
  } catch (...) {
    try {
      remove_unfinished(unfinished, disk);
    } catch (const BadInput&) {
      // What the merge failed of is the news.
    }
    throw;
  }
  return made;
}

}  // namespace tempera::gpu
