#include "gpu/runs/sampling.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "gpu/input/bad_input.hpp"
#include "gpu/sampler/score_record.hpp"

namespace tempera::gpu {
namespace {

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string line_of(std::size_t sample, const Event& event) {
  static constexpr const char* kinds[] = {"extension", "local_move", "swap"};
  nlohmann::ordered_json json{{"sample", sample},
                              {"kind", kinds[static_cast<int>(event.kind)]},
                              {"turn", event.turn},
                              {"rung", event.rung + 1}};
  if (event.kind == Event::Kind::local_move) json["r"] = event.restart;
  if (event.kind != Event::Kind::swap) json["tokens"] = event.tokens;
  if (event.kind == Event::Kind::local_move) json["proposed"] = event.proposed;
  if (event.kind != Event::Kind::extension) {
    json["accepted"] = event.accepted;
    json["log_ratio"] = event.log_ratio;
  }
  return json.dump();
}

}  // namespace

/// One answer in the making: its sampler's state, and the last moment at which it could be cut.
struct Sampling::Sample final : Observer {
  Sample(Sampling& owner, std::size_t number)
      : sampling(owner), index(number), statistics(owner.ladder_) {}

  void advanced(const Progress& now, std::span<const Event> events) override {
    statistics.count(events);
    const bool last_stage = now.stage + 1 == sampling.plan_.stages.size();
    if (last_stage && now.round > 0) {
      std::vector<double> log_p0;
      for (const Record& record : now.replicas) log_p0.push_back(record.log_p0());
      statistics.count_log_p0(log_p0);
    }
    done = last_stage && now.round == sampling.plan_.stages.back().rounds;
    if (done) {
      const Record& record = now.replicas[sampling.plan_.output];
      answer = {record.token_ids(), record.log_p0(), record.terminated()};
    }
    if (sampling.folder_ != nullptr) take_snapshot(now);
    sampling.advanced(*this, events);
  }

  void take_snapshot(const Progress& now) {
    snapshot = {{"stage", now.stage},   {"extended", now.extended},
                {"round", now.round},   {"local_moves", now.local_moves},
                {"sweeps", now.sweeps}, {"statistics", statistics.state()}};
    for (const Record& record : now.replicas)
      snapshot["replicas"].push_back(
          {{"tokens", record.token_ids()}, {"log_p0", to_bits(record.log_p0())}});
  }

  void restore(const nlohmann::json& state, RowLottery& rows) {
    snapshot = state.at("snapshot");
    statistics.restore(snapshot.at("statistics"));
    progress.stage = snapshot.at("stage");
    progress.extended = snapshot.at("extended");
    progress.round = snapshot.at("round");
    progress.local_moves = snapshot.at("local_moves");
    progress.sweeps = snapshot.at("sweeps");
    state.at("pending").get_to(pending);
    done = state.at("done");
    for (const auto& replica : snapshot.at("replicas"))
      progress.replicas.push_back(rescored(replica.at("tokens").get<std::vector<TokenId>>(),
                                           replica.at("log_p0").get<std::uint64_t>(), rows));
    if (done) {
      const Record& record = progress.replicas[sampling.plan_.output];
      answer = {record.token_ids(), record.log_p0(), record.terminated()};
    }
  }

  /// The record of these tokens at the present stage, scored again.
  Record rescored(const std::vector<TokenId>& tokens, std::uint64_t log_p0_bits, RowLottery& rows) {
    const std::size_t horizon = sampling.plan_.stages[progress.stage].horizon;
    std::optional<Record> record;
    try {
      record =
          score_record(sampling.model_, rows, sampling.ladder_, sampling.context_, horizon, tokens);
    } catch (const std::domain_error&) {
      // A token that the model now forbids.
    }
    if (!record || to_bits(record->log_p0()) != log_p0_bits)
      throw BadInput(sampling.folder_->path().string(),
                     "the model no longer gives the probabilities of the checkpoint",
                     "resume with the model and the program that the run began with");
    return std::move(*record);
  }

  Sampling& sampling;
  std::size_t index;
  TemperingStatistics statistics;
  Progress progress;
  nlohmann::json snapshot;
  std::vector<std::string> pending;  ///< events that wait for earlier samples to be written
  bool done = false;
  Answer answer;
};

Sampling::Sampling(LanguageModel& model, const SamplingSettings& settings, Decode decode,
                   RunFolder* folder, OnProgress on_progress, double checkpoint_seconds)
    : model_(model),
      settings_(settings),
      decode_(std::move(decode)),
      folder_(folder),
      on_progress_(std::move(on_progress)),
      checkpoint_seconds_(checkpoint_seconds),
      context_{settings.prompt, settings.terminal},
      ladder_(settings.powers),
      plan_(settings.plan()),
      total_(ladder_) {}

Sampling::~Sampling() = default;

std::vector<Answer> Sampling::run() {
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  Engine engine(model_, *rows, lottery);
  engine_ = &engine;
  for (std::size_t i = 0; i < settings_.samples; ++i)
    samples_.push_back(std::make_unique<Sample>(*this, i));
  const auto checkpoint = folder_ == nullptr ? std::nullopt : folder_->checkpoint();
  if (checkpoint) restore(*checkpoint, *rows);

  const std::shared_ptr<Cache> prompt_cache = model_.empty_cache();
  std::vector<Run> runs;
  runs.reserve(settings_.samples);
  std::vector<Task> tasks;
  for (const auto& sample : samples_) {
    runs.push_back(Run{engine, context_, ladder_, settings_.seed, 0,
                       static_cast<std::uint32_t>(sample->index), prompt_cache});
    if (sample->done) continue;
    tasks.push_back(parallel_power_tempering(runs.back(), plan_, sample->progress, sample.get()));
  }
  engine.run(tasks);
  flush();
  if (folder_ != nullptr) {
    save();
    folder_->finish(summary());
  }
  report();
  std::vector<Answer> answers;
  for (const auto& sample : samples_) answers.push_back(sample->answer);
  return answers;
}

void Sampling::restore(const nlohmann::json& checkpoint, RowLottery& rows) {
  try {
    checkpoint.at("front").get_to(front_);
    total_.restore(checkpoint.at("total"));
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const auto& state = checkpoint.at("samples").at(i);
      if (!state.is_null()) samples_[i]->restore(state, rows);
    }
  } catch (const nlohmann::json::exception& error) {
    throw BadInput((folder_->path() / "checkpoint").string(), error.what(),
                   "the folder was changed by another program; start the run again elsewhere");
  }
}

void Sampling::advanced(Sample& sample, std::span<const Event> events) {
  if (folder_ != nullptr) {
    for (const Event& event : events) sample.pending.push_back(line_of(sample.index, event));
    flush();
    if (seconds_now() - saved_at_ >= checkpoint_seconds_) save();
  }
  report();
}

void Sampling::flush() {
  while (front_ < samples_.size()) {
    Sample& sample = *samples_[front_];
    if (folder_ != nullptr)
      for (const std::string& line : sample.pending) folder_->append_event(line);
    sample.pending.clear();
    if (!sample.done) return;
    if (folder_ != nullptr) {
      const nlohmann::ordered_json line{{"sample", sample.index},
                                        {"tokens", sample.answer.tokens},
                                        {"text", decode_(sample.answer.tokens)},
                                        {"log_p0", sample.answer.log_p0},
                                        {"terminated", sample.answer.terminated}};
      folder_->append_sample(line.dump());
    }
    total_.add(sample.statistics);
    ++front_;
  }
}

void Sampling::save() {
  nlohmann::json state{{"front", front_}, {"total", total_.state()}};
  for (const auto& sample : samples_)
    state["samples"].push_back(sample->snapshot.is_null()
                                   ? nlohmann::json()
                                   : nlohmann::json{{"snapshot", sample->snapshot},
                                                    {"pending", sample->pending},
                                                    {"done", sample->done}});
  folder_->save_checkpoint(std::move(state));
  saved_at_ = seconds_now();
}

void Sampling::report() {
  if (!on_progress_ || !report_clock_.due()) return;
  TemperingStatistics sum(ladder_);
  double done = 0.0;
  for (const auto& sample : samples_) {
    sum.add(sample->statistics);
    done += share_done(plan_, sample->progress);
  }
  on_progress_(sampling_progress(done / static_cast<double>(samples_.size()),
                                 engine_->decode_tokens(), sum));
}

nlohmann::ordered_json Sampling::summary() const {
  nlohmann::ordered_json json = total_.report();
  json["samples"] = settings_.samples;
  return json;
}

}  // namespace tempera::gpu
