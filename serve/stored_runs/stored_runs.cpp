#include "serve/stored_runs/stored_runs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "runs/run_traces.hpp"
#include "serve/http/request_target.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/json_response.hpp"

namespace tempera::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::string_view root = "/runs";
constexpr std::size_t most_runs = 1000;     ///< that are listed
constexpr std::size_t most_prompts = 1000;  ///< whose ids are listed
/// The bytes of a config.json, whose prompts are read whole.
constexpr std::uint64_t largest_config = std::uint64_t{64} << 20;
/// A thread that reads bodies passes over this many in a second or so, and reads these.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t most_own_bytes = std::uint64_t{64} << 20;
/// Records of an answer: its rounds times its rungs. Every second of more rounds is left out.
constexpr std::size_t most_records = std::size_t{1} << 16;

/// The state of a name that is a file or a folder itself, and no link to one.
std::optional<struct stat> state_of(const fs::path& path, mode_t kind) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || (found.st_mode & S_IFMT) != kind) return std::nullopt;
  return found;
}

bool is_run(const fs::path& folder) {
  return state_of(folder, S_IFDIR) && state_of(folder / "config.json", S_IFREG) &&
         state_of(folder / "events.jsonl", S_IFREG);
}

bool is_finished(const fs::path& folder) {
  return state_of(folder / "summary.json", S_IFREG).has_value();
}

HttpResponse no_such(const char* what, const char* remedy) {
  return error_response(404, std::string("there is no such ") + what + "; " + remedy);
}

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return number;
}

/// The name of a run's model; a path of this machine is left out.
std::string name_of_model(const gpu::SamplingSettings& settings) {
  return settings.snapshot ? settings.model : fs::path(settings.model).filename().string();
}

ordered_json about(const std::string& name, const fs::path& folder,
                   const gpu::SamplingSettings& settings) {
  return {{"id", name},
          {"object", "run"},
          {"finished", is_finished(folder)},
          {"model", name_of_model(settings)},
          {"sampler", settings.sampler},
          {"powers", settings.powers},
          {"horizon", settings.horizon},
          {"block", settings.block},
          {"seed", settings.seed},
          {"samples", settings.samples}};
}

gpu::SamplingSettings settings_of(const fs::path& folder) {
  const auto config = state_of(folder / "config.json", S_IFREG);
  if (config && static_cast<std::uint64_t>(config->st_size) > largest_config)
    throw BadInput((folder / "config.json").string(), "is too large to be shown here",
                   "draw it with tempera plot");
  return gpu::read_settings(folder);
}

/// The rounds of a sample with what was counted up to each. If they are too many, every second is
/// left out, as often as needed; the last one stays.
class Rounds {
 public:
  explicit Rounds(std::size_t rungs) : most_(std::max<std::size_t>(2, most_records / rungs)) {}

  void take(const gpu::RoundTrace& round) {
    if (kept_.empty()) {
      so_far_ = round;
    } else {
      const std::uint64_t tokens = so_far_.decode_tokens + round.decode_tokens;
      const auto moves = sum(so_far_.moves, round.moves);
      const auto swaps = sum(so_far_.swaps, round.swaps);
      so_far_ = round;
      so_far_.decode_tokens = tokens;
      so_far_.moves = moves;
      so_far_.swaps = swaps;
    }
    // The last one is always there, and gives way if it was not due.
    if (count_ > 0 && (count_ - 1) % every_ != 0) kept_.pop_back();
    if (kept_.size() == most_) thin();
    kept_.push_back(so_far_);
    ++count_;
  }
  std::size_t count() const { return count_; }

  ordered_json json() const {
    auto list = ordered_json::array();
    for (const gpu::RoundTrace& round : kept_)
      list.push_back({{"stage", round.stage},
                      {"round", round.round},
                      {"decode_tokens", round.decode_tokens},
                      {"replicas", round.replicas},
                      {"tokens", round.lengths},
                      {"log_p0", round.log_p0},
                      {"local_moves", counts(round.moves)},
                      {"swaps", counts(round.swaps)}});
    return list;
  }

 private:
  using Counts = std::vector<gpu::AcceptanceCount>;

  static Counts sum(Counts sums, const Counts& more) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].tried += more[i].tried;
      sums[i].accepted += more[i].accepted;
    }
    return sums;
  }
  static ordered_json counts(const Counts& counts) {
    auto list = ordered_json::array();
    for (const auto& count : counts)
      list.push_back({{"proposed", count.tried}, {"accepted", count.accepted}});
    return list;
  }
  void thin() {
    every_ *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < kept_.size(); i += 2) std::swap(kept_[kept++], kept_[i]);
    kept_.resize(kept);
  }

  const std::size_t most_;
  std::size_t every_ = 1;
  std::size_t count_ = 0;
  gpu::RoundTrace so_far_;
  std::vector<gpu::RoundTrace> kept_;
};

}  // namespace

StoredRuns::StoredRuns(std::optional<fs::path> folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (!folder_) return;
  if (!fs::is_directory(*folder_, error))
    throw BadInput("--runs " + folder_->string(), "is not a folder",
                   "give the folder that holds run folders of tempera sample --out");
  if (is_run(*folder_))
    throw BadInput("--runs " + folder_->string(), "is a run folder itself",
                   "give the folder that holds it");
}

bool StoredRuns::is_path(std::string_view path) {
  return path == root || path.starts_with(std::string(root) + "/");
}

HttpResponse StoredRuns::answer(const HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") return wrong_method("GET, HEAD");
  if (request.path == root) return list();
  std::vector<std::string> parts;
  for (std::string_view rest = std::string_view(request.path).substr(root.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const auto end = std::min(rest.find('/'), rest.size());
    parts.push_back(without_escapes(rest.substr(0, end)));
    rest.remove_prefix(end);
  }
  if (!folder_)
    return no_such("run", "this server shows those of a folder: tempera serve --runs FOLDER");
  const std::string& name = parts.front();
  const bool is_name = !name.empty() && name != "." && name != ".." &&
                       name.find_first_of(std::string("/\0", 2)) == std::string::npos;
  const fs::path folder = *folder_ / name;
  if (!is_name || !is_run(folder)) return no_such("run", "GET /runs lists them");
  if (parts.size() == 1) return run(name, folder);
  if (parts.size() != 3)
    return no_such("part of a run", "GET /runs/RUN/PROMPT/SAMPLE shows an answer");
  return answer(name, folder, parts[1], parts[2]);
}

HttpResponse StoredRuns::list() const {
  std::error_code error;
  std::vector<fs::path> folders;
  if (folder_)
    for (fs::directory_iterator entry(*folder_, error), end; !error && entry != end;
         entry.increment(error))
      if (is_run(entry->path())) folders.push_back(entry->path());
  if (error)
    throw BadInput(folder_->string(), "cannot be read " + reason(error.value()),
                   "let the server read it");
  std::sort(folders.begin(), folders.end());
  auto data = ordered_json::array();
  for (std::size_t i = 0; i < std::min(folders.size(), most_runs); ++i) {
    const auto config = state_of(folders[i] / "config.json", S_IFREG);
    data.push_back({{"id", folders[i].filename().string()},
                    {"object", "run"},
                    {"created", config ? std::int64_t{config->st_mtime} : 0},
                    {"finished", is_finished(folders[i])}});
  }
  return json_response(
      {{"object", "list"}, {"data", std::move(data)}, {"has_more", folders.size() > most_runs}});
}

HttpResponse StoredRuns::run(const std::string& name, const fs::path& folder) const {
  const gpu::SamplingSettings settings = settings_of(folder);
  ordered_json run = about(name, folder, settings);
  run["prompt_count"] = settings.prompts.size();
  run["prompts"] = ordered_json::array();
  for (std::size_t p = 0; p < std::min(settings.prompts.size(), most_prompts); ++p)
    run["prompts"].push_back(settings.prompts[p].id ? ordered_json(*settings.prompts[p].id)
                                                    : ordered_json(nullptr));
  return json_response(run);
}

HttpResponse StoredRuns::answer(const std::string& name, const fs::path& folder,
                                std::string_view prompt, std::string_view sample) const {
  const auto prompt_number = number_in(prompt);
  const auto sample_number = number_in(sample);
  const gpu::SamplingSettings settings = settings_of(folder);
  if (!prompt_number || *prompt_number >= settings.prompts.size() || !sample_number ||
      *sample_number >= settings.samples)
    return no_such("answer", "the run has prompts and samples by their numbers, from 0");
  const gpu::OneSample only{*prompt_number, *sample_number, most_bytes, most_own_bytes};
  Rounds rounds(settings.powers.size());
  gpu::read_traces(
      folder, [&](const gpu::RoundTrace& round) { rounds.take(round); }, only);
  ordered_json found = about(name, folder, settings);
  found["object"] = "run.answer";
  const auto& id = settings.prompts[only.prompt].id;
  found["prompt"] = id ? ordered_json(*id) : ordered_json(nullptr);
  found["sample"] = only.sample;
  found["text"] = nullptr;
  found["log_p0"] = nullptr;
  if (state_of(folder / "samples.jsonl", S_IFREG))
    if (const auto line = gpu::read_answer(folder, settings, only)) {
      found["text"] = line->at("answer").get<std::string>();
      found["log_p0"] = line->at("log_p0");
    }
  found["round_count"] = rounds.count();
  found["rounds"] = rounds.json();
  return json_response(found);
}

}  // namespace tempera::serve
