#include "gpu/runs/sampling.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/json_document.hpp"
#include "gpu/runs/run_lines.hpp"

namespace tempera::gpu {
namespace {

constexpr const char* start_elsewhere =
    "the folder was changed by another program; start the run again elsewhere";

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Adds the time from its making to its end to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), begin_(seconds_now()) {}
  ~Stopwatch() { sum_ += seconds_now() - begin_; }

 private:
  double& sum_;
  double begin_;
};

}  // namespace

struct Sampling::UnderWay {
  explicit UnderWay(const Ladder& ladder) : statistics(ladder) {}
  TemperingStatistics statistics;
  double share = 0.0;     ///< of its work that is done
  std::string events;     ///< lines that are in no file yet
  nlohmann::json kept;    ///< for the checkpoint: its state when it was last asked for it
  nlohmann::json answer;  ///< of a run that has ended
  bool is_news = false;   ///< whether it has gone on since
  bool is_due = false;    ///< whether the checkpoint in the making waits for it
};

Sampling::Sampling(LanguageModel& model, const SamplingSettings& settings, Decode decode,
                   RunFolder* folder, SamplingWatcher watcher, double checkpoint_seconds)
    : model_(model),
      settings_(settings),
      decode_(std::move(decode)),
      folder_(folder),
      watcher_(std::move(watcher)),
      draw_(settings.draw_settings()),
      total_(draw_.ladder),
      checkpoint_seconds_(checkpoint_seconds),
      saved_at_(seconds_now()),
      pause_(checkpoint_seconds) {}

Sampling::~Sampling() = default;

void Sampling::run() {
  const std::vector<Prompt> prompts = settings_.numbered_prompts();
  if (folder_ != nullptr && folder_->checkpoint()) restore();
  if (folder_ != nullptr && folder_->finished()) return;
  draw_.first = front_;
  draw_answers(model_, prompts, parallel_power_tempering, draw_, *this);
  if (folder_ != nullptr) {
    write_checkpoint();
    folder_->finish(summary());
  }
}

void Sampling::restore() {
  const std::string file = (folder_->path() / "checkpoint").string();
  const JsonObject state(*folder_->checkpoint(), file);
  try {
    state.only({"front", "total", "under_way"});
    front_ = state.whole_number("front", 0, settings_.prompts.size() * settings_.samples);
    total_.restore(state.at("total"));
    for (const auto& value : state.array("under_way")) {
      const JsonObject run(value, file);
      run.only({"place", "share", "statistics", "progress", "answer"});
      UnderWay& kept = under_way(
          run.whole_number("place", front_, settings_.prompts.size() * settings_.samples - 1));
      kept.kept = value;
      kept.share = run.at("share").get<double>();
      kept.statistics.restore(run.at("statistics"));
      if (run.has("answer")) kept.answer = run.at("answer");
    }
  } catch (const nlohmann::json::exception&) {
    throw BadInput(file, "is not as tempera writes it", start_elsewhere);
  }
  for_each_answer(*folder_, settings_, [&](const SampledAnswer& answer) {
    if (watcher_.answer) watcher_.answer(answer);
  });
}

Sampling::UnderWay& Sampling::under_way(std::size_t place) {
  return under_way_.try_emplace(place, draw_.ladder).first->second;
}

std::optional<Answer> Sampling::ended_before(std::size_t place) {
  const auto run = under_way_.find(place);
  if (run == under_way_.end() || !run->second.kept.contains("answer")) return std::nullopt;
  return answer_of(run->second.kept.at("answer"), (folder_->path() / "checkpoint").string());
}

std::optional<SavedProgress> Sampling::begun_before(std::size_t place) {
  const auto run = under_way_.find(place);
  if (run == under_way_.end()) return std::nullopt;
  const std::string file = (folder_->path() / "checkpoint").string();
  SavedProgress progress = progress_of(run->second.kept.at("progress"), file);
  if (progress.stage >= draw_.plan.stages.size() ||
      progress.replicas.size() != draw_.ladder.rungs() ||
      progress.log_p0.size() != draw_.ladder.rungs())
    throw BadInput(file, "is not as tempera writes it", start_elsewhere);
  progress.where = folder_->path().string();
  return progress;
}

void Sampling::advanced(std::size_t place, const Progress& progress,
                        std::span<const Event> events) {
  UnderWay& run = under_way(place);
  run.is_news = true;
  run.statistics.count(events);
  for (const Event& event : events) decode_tokens_ += event.tokens;
  if (progress.stage + 1 == draw_.plan.stages.size() && progress.round > 0) {
    std::vector<double> log_p0;
    for (const Record& record : progress.replicas) log_p0.push_back(record.log_p0());
    run.statistics.count_log_p0(log_p0);
  }
  run.share = share_done(draw_.plan, progress);
  if (folder_ != nullptr) {
    for (const Event& event : events)
      run.events += event_line(settings_.prompts[place / settings_.samples],
                               place % settings_.samples, event);
    if (!saving_ && seconds_now() - saved_at_ >= pause_) begin_checkpoint();
    if (run.is_due) keep(place, run, {{"progress", to_json(saved(progress, {}))}});
    if (saving_ && due_ == 0) write_checkpoint();
  }
  report();
}

void Sampling::ended(std::size_t place, const Progress& progress) {
  UnderWay& run = under_way(place);
  run.share = 1.0;
  run.is_news = true;
  if (folder_ == nullptr) return;
  const Record& record = answer_of(progress, draw_.plan);
  run.answer = to_json(Answer{record.token_ids(), record.log_p0(), record.terminated()});
  if (run.is_due) keep(place, run, {{"answer", run.answer}});
}

void Sampling::drawn(std::size_t place, const Answer& answer) {
  const auto found = under_way_.find(place);
  UnderWay& run = found->second;
  std::span<const TokenId> shown = answer.tokens;
  if (answer.terminated) shown = shown.first(shown.size() - 1);
  const SampledAnswer sampled{settings_.prompts[place / settings_.samples],
                              place % settings_.samples, answer, decode_(answer.tokens),
                              decode_(shown)};
  total_.add(run.statistics);
  if (folder_ != nullptr) {
    folder_->release(place, run.events);
    folder_->append_sample(answer_line(sampled));
  }
  if (run.is_due) --due_;
  under_way_.erase(found);
  front_ = place + 1;
  if (watcher_.answer) watcher_.answer(sampled);
  if (saving_ && due_ == 0) write_checkpoint();
}

/// Asks every run for its state: those that have ended at once, the others at their next round.
void Sampling::begin_checkpoint() {
  saving_ = true;
  seconds_saving_ = 0.0;
  for (auto& [place, run] : under_way_) {
    if (!run.is_news) continue;
    run.is_due = true;
    ++due_;
    if (!run.answer.is_null()) keep(place, run, {{"answer", run.answer}});
  }
}

void Sampling::keep(std::size_t place, UnderWay& run, nlohmann::json state) {
  const Stopwatch watch(seconds_saving_);
  state["place"] = place;
  state["share"] = run.share;
  state["statistics"] = run.statistics.state();
  run.kept = std::move(state);
  folder_->keep_waiting(place, run.events);
  run.events.clear();
  run.is_news = false;
  run.is_due = false;
  --due_;
}

void Sampling::write_checkpoint() {
  {
    const Stopwatch watch(seconds_saving_);
    nlohmann::json state{
        {"front", front_}, {"total", total_.state()}, {"under_way", nlohmann::json::array()}};
    for (const auto& [place, run] : under_way_)
      if (!run.kept.is_null()) state["under_way"].push_back(run.kept);
    folder_->save_checkpoint(std::move(state));
  }
  saving_ = false;
  saved_at_ = seconds_now();
  if (checkpoint_seconds_ > 0.0) pause_ = std::max(checkpoint_seconds_, 40.0 * seconds_saving_);
}

void Sampling::report() {
  if (!watcher_.progress || !report_clock_.due()) return;
  TemperingStatistics sum = total_;
  auto done = static_cast<double>(front_);
  for (const auto& [place, run] : under_way_) {
    sum.add(run.statistics);
    done += run.share;
  }
  const auto places = static_cast<double>(settings_.prompts.size() * settings_.samples);
  watcher_.progress(sampling_progress(done / places, decode_tokens_, sum));
}

nlohmann::ordered_json Sampling::summary() const {
  if (folder_ != nullptr && folder_->finished()) return folder_->summary();
  nlohmann::ordered_json json = total_.report();
  json["samples"] = settings_.prompts.size() * settings_.samples;
  return json;
}

}  // namespace tempera::gpu
