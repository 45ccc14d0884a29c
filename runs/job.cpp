#include "runs/job.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/statistics/foreign_state.hpp"
#include "gpu/session/answer_text.hpp"
#include "runs/ended_round.hpp"
#include "runs/part_line.hpp"
#include "runs/run_lines.hpp"

namespace tempera::gpu {
struct Job::ActiveRun {
  ActiveRun(const Ladder& ladder, const Plan& plan) : statistics(ladder, plan) {}
  TemperingStatistics statistics;
  double share = 0.0;                    ///< of its work that is done
  std::string events;                    ///< lines that are in no file yet
  std::optional<SavedProgress> records;  ///< after its last round, where it goes on
  nlohmann::json answer;                 ///< of a run that has ended
  nlohmann::json kept;                   ///< for the checkpoint: its state when it was last kept
  bool is_unsaved = false;               ///< whether it has gone on since
};

Job::Job(LanguageModel& model, const SamplingSettings& settings, const TokenText& text,
         RunFolder* folder, JobWatcher watcher, const JobLayout& layout, Deal* deal)
    : model_(model),
      devices_(layout.devices),
      settings_(settings),
      text_(text),
      folder_(folder),
      watcher_(std::move(watcher)),
      draw_(settings.draw_settings()),
      numbered_(settings.numbered_prompts()),
      plans_(draw_.plan, numbered_),
      report_(settings, draw_, numbered_, plans_,
              deal == nullptr ? RunReport::Of::whole_run : RunReport::Of::part),
      deal_(deal),
      checkpoint_seconds_(layout.checkpoint_seconds),
      saved_at_(seconds_now()),
      forced_at_(saved_at_),
      // The journal keeps what a short run does: a checkpoint would force a file for each answer.
      pause_(10.0 * layout.checkpoint_seconds) {
  static_cast<SessionOptions&>(draw_) = layout.session;
  draw_.device_lost = watcher_.device_lost;
}

Job::~Job() = default;

void Job::run() {
  if (folder_ != nullptr) restore();
  if (folder_ != nullptr && folder_->finished()) return;
  begin_deal();
  if (folder_ != nullptr) earlier_ = folder_->speed_or_none();
  began_ = seconds_now();
  const SamplerFunction program = sampler_named(settings_.sampler, "sampler").program;
  const TokenText* const text = settings_.stop.empty() ? nullptr : &text_;
  totals_ = devices_.empty() ? draw_answers(model_, numbered_, program, draw_, *this, text)
                             : draw_answers(devices_, numbered_, program, draw_, *this, text);
  seconds_ = seconds_now() - began_;
  if (folder_ != nullptr) {
    nlohmann::json state = checkpoint_state();
    folder_->write_speed(speed());
    folder_->finish(summary(), std::move(state));
  }
}

void Job::restore() {
  if (folder_->checkpoint()) restore_checkpoint();
  if (folder_->finished()) return;
  folder_->journal().for_each(
      [this](std::string_view line, const std::string& where) { replay(line, where); });
}

void Job::restore_checkpoint() {
  const std::string file = (folder_->path() / "checkpoint").string();
  const JsonObject state(*folder_->checkpoint(), file);
  try {
    state.only({"front", "total", "at_horizon", "prompt", "prompt_at_horizon",
                "prompt_log_z_ratios", "prompts", "under_way"});
    next_ = report_.restore(state);
    restore_parts();
    restore_prompt_reports(state);
    for (const auto& value : state.array("under_way")) {
      const JsonObject run(value, file);
      run.only({"place", "share", "statistics", "progress", "answer"});
      const std::size_t run_index = run.whole_number("place", 0, runs() - 1);
      if (is_delivered(run_index))
        throw BadInput(file, "is not as tempera writes it", remedy_for(file));
      ActiveRun& kept = active_run(run_index);
      kept.kept = value;
      kept.share = run.finite_number("share");
      kept.statistics.restore(run.at("statistics"));
      if (run.has("answer")) {
        restore_end(kept, run.at("answer"), file);
      } else {
        kept.records = progress_of(run.at("progress"), file);
        require_possible(run_index, *kept.records, possible_runs(), file);
      }
      kept.is_unsaved = false;
    }
  } catch (const nlohmann::json::exception&) {
    throw BadInput(file, "is not as tempera writes it", remedy_for(file));
  } catch (const ForeignState&) {
    throw BadInput(file, "is not as tempera writes it", remedy_for(file));
  }
  restore_answers();
}

void Job::restore_parts() {
  if (deal_ == nullptr) return;
  is_delivered_.resize(runs());
  folder_->for_each_part([this](const std::string& line, const LinePlace& where) {
    const std::size_t run_index = part_of(line, runs(), where).run_index;
    if (is_delivered_[run_index])
      throw BadInput(where.text(), "is the second of its run", remedy_for(where.text()));
    is_delivered_[run_index] = true;
    delivered_.push_back(run_index);
    report_.count_run(run_index);
  });
}

/// Hands over the answers that have left, and checks that there are as many as the checkpoint says.
void Job::restore_answers() {
  std::size_t answers = 0;
  for_each_answer(*folder_, settings_, [&](const SampledAnswer& answer) {
    ++answers;
    if (watcher_.answer) watcher_.answer(answer);
  });
  if (answers != next_ || report_.answers() != next_)
    throw BadInput((folder_->path() / "samples.jsonl").string(),
                   "holds " + std::to_string(answers) + " answers where the checkpoint has " +
                       std::to_string(next_),
                   remedy_for(folder_->path() / "samples.jsonl"));
}

/// Whether an earlier process has given out the answer of this run.
bool Job::is_delivered(std::size_t run_index) const {
  if (deal_ == nullptr) return run_index < next_;
  return !is_delivered_.empty() && is_delivered_[run_index];
}

void Job::begin_deal() {
  draw_.next_run = [this] { return next_run(); };
  if (deal_ == nullptr) return;
  std::vector<std::size_t> begun;
  for (const auto& [run_index, run] : active_runs_) begun.push_back(run_index);
  deal_->begin(delivered_, begun, folder_ == nullptr ? "shard" : folder_->path().string());
}

std::optional<std::size_t> Job::next_run() {
  if (deal_ != nullptr) return deal_->next();
  return next_ < runs() ? std::optional(next_++) : std::nullopt;
}

void Job::restore_prompt_reports(const JsonObject& state) {
  const std::string file = (folder_->path() / "prompt_reports.jsonl").string();
  folder_->for_each_prompt_report([&](const std::string& line) {
    const std::string where =
        file + ", line " + std::to_string(report_.prompt_reports().size() + 1);
    const nlohmann::json report = parse_json(line, where);
    JsonObject(report, where).text("id");
    report_.take_prompt(nlohmann::ordered_json::parse(line));  // whose keys keep their order
  });
  if (!state.has("prompts")) return;
  // An older version kept them in the checkpoint, as text, and had no other file.
  for (auto& report : nlohmann::ordered_json::parse(state.text("prompts"))) {
    if (!folder_->finished()) folder_->append_prompt_report(report.dump());
    report_.take_prompt(std::move(report));
  }
}

const Plan& Job::plan_of(std::size_t run_index) const {
  return plans_.of(numbered_[run_index / settings_.samples]);
}

Job::ActiveRun& Job::active_run(std::size_t run_index) {
  return active_runs_.try_emplace(run_index, draw_.ladder, draw_.plan).first->second;
}

std::optional<Answer> Job::ended_before(std::size_t run_index) {
  const auto run = active_runs_.find(run_index);
  if (run == active_runs_.end() || run->second.answer.is_null()) return std::nullopt;
  return answer_of(run->second.answer, folder_->path().string());
}

std::optional<SavedProgress> Job::begun_before(std::size_t run_index) {
  const auto run = active_runs_.find(run_index);
  if (run == active_runs_.end()) return std::nullopt;
  SavedProgress progress = run->second.records.value();
  progress.where = folder_ == nullptr ? "the run" : folder_->path().string();
  return progress;
}

void Job::round_ended(RequestId run_index, std::size_t, const Progress& progress,
                      std::span<const Event> events) {
  EndedRound round = ended_round(run_index, progress, events, settings_.options.confidence);
  for (const Event& event : events) decode_tokens_ += event.tokens;
  if (folder_ != nullptr) folder_->journal().gather(journal_line(round));
  take(std::move(round));
  report();
}

/// A round that ended now, or that the journal says ended in an earlier process.
void Job::take(EndedRound round) {
  const std::size_t run_index = round.run_index;
  const SavedProgress& progress = round.progress;
  ActiveRun& run = active_run(run_index);
  run.is_unsaved = true;
  run.statistics.count(round.events);
  std::vector<double> log_p0;
  for (const std::uint64_t bits : progress.log_p0) log_p0.push_back(from_bits(bits));
  run.statistics.trace(progress.stage, progress.round, log_p0, round.confidence);
  if (progress.stage + 1 == plan_of(run_index).stages.size() && progress.round > 0)
    run.statistics.count_round(log_p0, round.confidence);
  run.share = share_done(plan_of(run_index), position_of(progress));
  if (folder_ == nullptr) {
    // Only another device may have to go on from here.
    if (!devices_.empty()) run.records = std::move(round.progress);
    return;
  }
  const SamplePrompt& prompt = settings_.prompts[run_index / settings_.samples];
  const std::size_t sample = run_index % settings_.samples;
  for (const Event& event : round.events) run.events += event_line(prompt, sample, event);
  run.events += round_line(prompt, sample, round, run.statistics.index_process());
  run.records = std::move(round.progress);
  has_unsaved_ = true;
}

/// Takes a line of the journal, of the one or the other kind: a round that ended, or a run.
void Job::replay(std::string_view line, const std::string& where) {
  const nlohmann::json json = parse_json(line, where);
  const JsonObject object(json, where);
  const std::size_t run_index = object.whole_number("place", 0, runs() - 1);
  const auto before = active_runs_.find(run_index);
  const bool has_ended = before != active_runs_.end() && !before->second.answer.is_null();
  if (is_delivered(run_index) || has_ended ||
      (object.has("answer") && before == active_runs_.end()))
    throw BadInput(where, "is not as tempera writes it", remedy_for(where));
  if (!object.has("answer")) return take(ended_round_of(json, possible_runs(), where));
  object.only({"place", "answer"});
  restore_end(active_run(run_index), object.at("answer"), where);
}

void Job::restore_end(ActiveRun& run, const nlohmann::json& answer, const std::string& where) {
  require_possible(answer_of(answer, where).tokens, possible_runs(), where);
  end(run, answer);
}

PossibleRuns Job::possible_runs() const {
  return {draw_, plans_, numbered_, model_.vocabulary_size()};
}

/// Runs whose rounds end in one batch share a checkpoint: the next pass begins when it is written.
void Job::before_batch(const SessionTotals& so_far) {
  totals_ = so_far;
  seconds_ = seconds_now() - began_;
  if (has_unsaved_) force_what_ended();
  remark_once();
  if (!watcher_.stop || !watcher_.stop()) return;
  if (folder_ != nullptr) write_checkpoint();
  throw RunStopped();
}

void Job::remark_once() {
  const auto& held = totals_.held_back;
  if (has_remarked_ || !watcher_.remark || !held || held->budget.is_given) return;
  has_remarked_ = true;
  watcher_.remark(text_of(*held, draw_.in_flight));
}

void Job::force_what_ended() {
  const double now = seconds_now();
  if (now - saved_at_ >= pause_) return write_checkpoint();
  folder_->journal().write();
  if (now - forced_at_ < checkpoint_seconds_) return;
  folder_->journal().force();
  forced_at_ = now;
}

void Job::answered(RequestId run_index, std::size_t, const Answer& ended) {
  ActiveRun& run = active_run(run_index);
  run.share = 1.0;
  if (folder_ == nullptr) return;
  nlohmann::json answer = to_json(ended);
  folder_->journal().gather(nlohmann::json{{"place", run_index}, {"answer", answer}}.dump());
  end(run, std::move(answer));
}

void Job::end(ActiveRun& run, nlohmann::json answer) {
  run.share = 1.0;
  run.is_unsaved = true;
  run.answer = std::move(answer);
  run.records.reset();
}

void Job::drawn(std::size_t run_index, const Answer& answer) {
  const auto found = active_runs_.find(run_index);
  ActiveRun& run = found->second;
  // An answer that ended in an earlier process comes without its text.
  const SampledAnswer sampled{settings_.prompts[run_index / settings_.samples],
                              run_index % settings_.samples, answer, text_.decode(answer.tokens),
                              text_of(answer, text_, settings_.stop)};
  const std::optional<std::string> prompt_report =
      report_.take(run_index, run.statistics, answer.is_cut());
  if (folder_ != nullptr) {
    const std::uint64_t events = folder_->flush_events(run_index, run.events);
    const std::string line = answer_line(sampled);
    folder_->append_sample(line);
    if (deal_ != nullptr)
      folder_->append_part(
          part_line({run_index, events, line.size() + 1, answer.is_cut()}, run.statistics));
    if (prompt_report) folder_->append_prompt_report(*prompt_report);
  }
  active_runs_.erase(found);
  if (watcher_.answer) watcher_.answer(sampled);
}

void Job::keep(std::size_t run_index, ActiveRun& run) {
  nlohmann::json state{{"place", run_index}};
  if (run.answer.is_null())
    state["progress"] = to_json(run.records.value());
  else
    state["answer"] = run.answer;
  state["share"] = run.share;
  state["statistics"] = run.statistics.state();
  run.kept = std::move(state);
  folder_->buffer_events(run_index, run.events);
  run.events.clear();
  run.is_unsaved = false;
}

nlohmann::json Job::checkpoint_state() {
  nlohmann::json state{{"under_way", nlohmann::json::array()}};
  report_.add_state(state);
  for (auto& [run_index, run] : active_runs_) {
    if (run.is_unsaved) keep(run_index, run);
    if (!run.kept.is_null()) state["under_way"].push_back(run.kept);
  }
  return state;
}

void Job::write_checkpoint() {
  double seconds = 0.0;
  {
    const Stopwatch watch(seconds);
    folder_->save_checkpoint(checkpoint_state());
    folder_->write_speed(speed());
  }
  has_unsaved_ = false;
  saved_at_ = forced_at_ = seconds_now();
  if (checkpoint_seconds_ > 0.0) pause_ = std::max(checkpoint_seconds_, 100.0 * seconds);
}

void Job::report() {
  if (!watcher_.progress || !report_clock_.due()) return;
  TemperingStatistics sum = report_.total();
  auto done = static_cast<double>(report_.answers());
  for (const auto& [run_index, run] : active_runs_) {
    sum.add(run.statistics);
    done += run.share;
  }
  const auto all = static_cast<double>(deal_ == nullptr ? runs() : deal_->runs());
  watcher_.progress(sampling_progress(done / all, decode_tokens_, sum));
}

nlohmann::ordered_json Job::summary() const {
  if (folder_ != nullptr && folder_->finished()) return folder_->summary();
  return report_.summary();
}

nlohmann::ordered_json Job::speed() const {
  RunSpeed all = earlier_;
  std::size_t cache_bytes = model_.most_cache_bytes();
  for (const DrawDevice& device : devices_)
    cache_bytes = std::max(cache_bytes, device.model->most_cache_bytes());
  all.add({1, seconds_, totals_, totals_.decode_tokens - decode_tokens_, cache_bytes});
  return all.to_json();
}

}  // namespace tempera::gpu
