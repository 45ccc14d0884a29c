#include "gpu/jobs/merge.hpp"

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
#include "gpu/jobs/deal.hpp"
#include "gpu/jobs/file_window.hpp"
#include "gpu/jobs/gathered_lines.hpp"
#include "gpu/jobs/part_line.hpp"
#include "gpu/jobs/run_folder.hpp"
#include "gpu/jobs/run_report.hpp"
#include "gpu/jobs/shard.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

/// Where the parts, events and line of an answer begin in the files of its shard.
struct Offsets {
  std::uint64_t part = 0;
  std::uint64_t events = 0;
  std::uint64_t sample = 0;
};

/// The finished folder of a shard, read answer by answer in the order of the runs.
class ShardReader {
 public:
  ShardReader(fs::path folder, std::size_t window)
      : folder_(std::move(folder)),
        name_((folder_ / "parts.jsonl").string()),
        parts_(folder_ / "parts.jsonl", window),
        events_(folder_ / "events.jsonl", window),
        samples_(folder_ / "samples.jsonl", window) {}

  /// Checks that the shard is one of this run, and marks its runs in `is_held`.
  void check(const RunFolder& folder, const nlohmann::json& config, const std::string& config_name,
             std::vector<bool>& is_held);
  const RunSpeed& speed() const { return speed_; }

  /// The run of the next answer; nothing at the end.
  std::optional<std::size_t> run_index();
  /// The next answer's part and statistics; its events and line are added to `events` and
  /// `samples`. Goes on to the answer after it.
  Part take(TemperingStatistics& statistics, GatheredLines& events, GatheredLines& samples);

 private:
  fs::path folder_;
  std::string name_;  ///< of parts.jsonl, for messages
  FileWindow parts_;
  FileWindow events_;
  FileWindow samples_;
  std::size_t runs_ = 0;     ///< of the whole run
  std::size_t answers_ = 0;  ///< of the shard
  RunSpeed speed_;
  /// The lines in the order of the runs, if that is not the order of the file.
  std::vector<std::pair<std::size_t, Offsets>> sorted_;
  std::size_t taken_ = 0;
  Offsets at_;
};

void ShardReader::check(const RunFolder& folder, const nlohmann::json& config,
                        const std::string& config_name, std::vector<bool>& is_held) {
  const std::string name = (folder_ / "config.json").string();
  require_same_run(folder.config(), name, config, config_name);
  speed_ = folder.speed();
  runs_ = is_held.size();
  bool is_ascending = true;
  std::optional<std::size_t> before;
  Offsets at;
  folder.for_each_part([&](const std::string& line, const std::string& where) {
    const Part part = part_of(line, runs_, where);
    if (is_held[part.run_index])
      throw BadInput(where,
                     "is an answer that another shard holds too (place " +
                         std::to_string(part.run_index + 1) + ")",
                     remedy_for(name_));
    is_held[part.run_index] = true;
    is_ascending = is_ascending && (!before || *before < part.run_index);
    before = part.run_index;
    // Kept from the first answer that comes out of order; those before it are read again below.
    if (!is_ascending) sorted_.emplace_back(part.run_index, at);
    at.part += line.size() + 1;
    at.events += part.events;
    at.sample += part.sample;
    ++answers_;
  });
  if (at.events != folder.sealed_bytes("events.jsonl") ||
      at.sample != folder.sealed_bytes("samples.jsonl"))
    throw BadInput(name_, "does not count the bytes of events.jsonl and samples.jsonl",
                   remedy_for(name_));
  if (is_ascending) return;
  sorted_.clear();
  at = {};
  folder.for_each_part([&](const std::string& line, const std::string& where) {
    const Part part = part_of(line, runs_, where);
    sorted_.emplace_back(part.run_index, at);
    at.part += line.size() + 1;
    at.events += part.events;
    at.sample += part.sample;
  });
  std::sort(sorted_.begin(), sorted_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

std::optional<std::size_t> ShardReader::run_index() {
  if (taken_ == answers_) return std::nullopt;
  if (!sorted_.empty()) at_ = sorted_[taken_].second;
  return part_of(parts_.line(at_.part), runs_, name_).run_index;
}

Part ShardReader::take(TemperingStatistics& statistics, GatheredLines& events,
                       GatheredLines& samples) {
  const std::string_view line = parts_.line(at_.part);
  const Part part = part_of(line, runs_, statistics, name_);
  events_.read(at_.events, part.events, [&](std::string_view piece) { events.add(piece); });
  samples_.read(at_.sample, part.sample, [&](std::string_view piece) { samples.add(piece); });
  at_ = {at_.part + line.size() + 1, at_.events + part.events, at_.sample + part.sample};
  ++taken_;
  return part;
}

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

/// Whether ranks share the answers out, which then takes all of them at once.
bool are_dealt_as_asked(const fs::path& run, const std::vector<Shard>& shards) {
  for (const Shard& shard : shards) {
    const fs::path file = run / shard.folder_name() / "config.json";
    if (!is_there(file)) continue;
    const auto identity = ShardIdentity::from_config(read_json_file(file), file.string());
    return identity && identity->dealing == Dealing::as_asked;
  }
  return false;
}

void require_all_shards(const fs::path& run, const std::vector<Shard>& shards) {
  if (shards.empty())
    throw BadInput(run.string(), "holds no shard",
                   "draw its shards first, with tempera sample --shard I/N --out " + run.string());
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
                 are_dealt_as_asked(run, shards)
                     ? "make them with: mpirun -n " + std::to_string(of) +
                           " tempera sample --resume " + run.string()
                     : "make the first with: " + first);
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

/// Opens the folders of some shards, each on a thread of its own: that reads all their bytes for
/// the seals. What is wrong is told of the first.
std::vector<RunFolder> open_at_once(const std::vector<fs::path>& folders) {
  std::vector<std::future<RunFolder>> opening;
  for (const fs::path& folder : folders)
    opening.push_back(std::async(std::launch::async, [&folder] {
      config_of(folder);
      return RunFolder::open(folder);
    }));
  std::vector<RunFolder> opened;
  for (std::future<RunFolder>& folder : opening) opened.push_back(folder.get());
  return opened;
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

/// Copies the answers in the order of the runs.
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
  BackgroundWriter writer;
  GatheredLines events(writer, into, &RunFolder::append_events);
  GatheredLines samples(writer, into, &RunFolder::append_samples);
  GatheredLines prompt_reports(writer, into, &RunFolder::append_prompt_reports);
  TemperingStatistics statistics(draw.ladder, draw.plan);
  for (std::size_t run_index = 0; run_index < runs; ++run_index) {
    // Every run is held once: that was checked.
    ShardReader& reader = *next.top().second;
    next.pop();
    const Part part = reader.take(statistics, events, samples);
    if (part.run_index != run_index)
      throw Bug("a merge has taken run " + std::to_string(part.run_index) + " for " +
                std::to_string(run_index));
    const auto prompt_report = report.take(run_index, statistics, part.is_cut);
    if (prompt_report) prompt_reports.add(*prompt_report + '\n');
    go_on(reader);
    if (share_done && run_index % 256 == 0)
      share_done(static_cast<double>(run_index) / static_cast<double>(runs));
  }
  for (GatheredLines* file : {&events, &samples, &prompt_reports}) file->write();
  writer.finish();
  nlohmann::json state{{"under_way", nlohmann::json::array()}};
  report.add_state(state);
  into.write_speed(speed.to_json());
  into.finish(report.summary(), std::move(state));
}

}  // namespace

std::string command_for(const fs::path& run, std::size_t shard, std::size_t shards) {
  return "tempera sample --resume " + run.string() + " --shard " + Shard{shard, shards}.text();
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
      throw BadInput(merged.string(), "exists already, and is no run's",
                     "choose another folder with --out");
    const RunFolder there = RunFolder::open(merged, disk);
    if (!there.finished() || read_whole(merged / "config.json") != whole.dump(1) + "\n")
      throw BadInput(merged.string(), "exists already, and is another run's",
                     "choose another folder with --out");
    made.was_there = true;
    return made;
  }
  require_version(options.version, plain_config, config_name);
  // Buffers of all files together take 48 MiB at most, unless there are thousands of shards.
  constexpr std::size_t most_of_buffers = std::size_t{48} << 20;
  const std::size_t window =
      std::clamp(most_of_buffers / (3 * shards.size()), std::size_t{1} << 12, std::size_t{1} << 16);
  std::vector<bool> is_held(made.answers);
  std::vector<ShardReader> readers;
  readers.reserve(shards.size());
  const std::size_t threads = std::max(std::thread::hardware_concurrency(), 1U);
  for (std::size_t begin = 0; begin < shards.size(); begin += threads) {
    std::vector<fs::path> folders;
    for (std::size_t i = begin; i < std::min(begin + threads, shards.size()); ++i)
      folders.push_back(run / shards[i].folder_name());
    const std::vector<RunFolder> opened = open_at_once(folders);
    for (std::size_t i = 0; i < opened.size(); ++i)
      readers.emplace_back(folders[i], window).check(opened[i], plain_config, config_name, is_held);
  }
  const auto none = std::find(is_held.begin(), is_held.end(), false);
  if (none != is_held.end())
    throw BadInput(
        run.string(),
        "no shard holds " + name_of_run(settings, static_cast<std::size_t>(none - is_held.begin())),
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
