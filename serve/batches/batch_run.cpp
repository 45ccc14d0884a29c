#include "serve/batches/batch_run.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "runs/run_lines.hpp"
#include "serve/batches/batch_folder.hpp"
#include "serve/batches/batch_shards.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/json_response.hpp"

namespace tempera::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Seconds between two times that the journal is forced.
constexpr std::int64_t force_seconds = 2;
constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

/// A seed for a line that has none: another one for each line, and the same in every process.
std::uint64_t seed_of_line(std::uint64_t seed, std::size_t line) {
  return (seed + line) & ((std::uint64_t{1} << 53) - 1);
}

}  // namespace

/// A line on its way: the exchange that its answer comes back through, and the keeper of its
/// rounds.
struct BatchRun::Line final : Exchange, ChoiceKeeper {
  Line(BatchRun& owner, std::size_t number) : run(&owner), line(number) {}

  const HttpRequest& request() const override { return asked; }
  void respond(HttpResponse response) override {
    if (run != nullptr) run->news_.push_back({line, std::move(response)});
  }
  void begin_stream(unsigned, std::string) override {}
  void write(std::string) override {}
  void end() override {}
  void on_leave(std::function<void()>) override {}
  void round_ended(std::size_t choice, KeptChoice kept) override {
    if (run == nullptr) return;
    run->rounds_.push_back(json{
        {"line", line},
        {"choice", choice},
        {"progress", gpu::to_json(kept.progress)},
        {"statistics",
         kept.statistics}}.dump());
    run->kept_[line][choice] = std::move(kept);
  }

  BatchRun* run;  ///< null once it no longer counts
  const std::size_t line;
  const HttpRequest asked;
  std::shared_ptr<Generation> generation;
  bool is_resumed = false;
};

BatchRun::BatchRun(const GenerationMakings& makings, StoredFiles& files,
                   const std::filesystem::path& folder, const gpu::Shard& shard, Disk& disk)
    : makings_(makings),
      files_(files),
      batch_folder_(folder),
      shard_(shard),
      folder_(open_shard(folder, shard, makings, disk)),
      batch_(read_batch(folder_)),
      elsewhere_(batch_folder_, shard_, makings.until_look) {
  if (folder_.finished()) return;
  const std::string where = folder.string();
  const json config = folder_.config();
  const JsonObject object(config, where);
  seed_ = object.whole_number("seed", 0, any_number);
  const std::size_t shards =
      object.has("shards") ? object.whole_number("shards", 1, any_number) : 1;
  if (shards != shard_.of)
    throw BadInput(where,
                   "was dealt to " + std::to_string(shards) + " shards, and not to " +
                       std::to_string(shard_.of),
                   "start its servers with --shard I/" + std::to_string(shards));
  if (shard_.number > 1 && config.value("shard", json()) != json(identity_of(shard_, makings_)))
    throw BadInput(where + "/" + shard_.folder_name(), "was begun with another model or version",
                   "go on with that one, or remove this folder to draw its lines anew");
  input_ = files_.content(batch_.input_file);
  lines_ = lines_of(input_);
  deal_lines();
  const auto fingerprint_of = [&](const json& entry) {
    return JsonObject(entry, where).text("fingerprint") == makings_.identity.fingerprint;
  };
  if (folder_.checkpoint()) {
    const JsonObject state(*folder_.checkpoint(), where);
    written_ = state.whole_number("written", 0, order_.size());
    batch_.completed = state.whole_number("completed", 0, lines_.size());
    batch_.failed = state.whole_number("failed", 0, lines_.size());
    is_same_server_ = fingerprint_of(*folder_.checkpoint());
    for (const auto& entry : state.array("entries")) restore(entry, where);
  }
  folder_.journal().for_each([&](std::string_view line, const std::string& at) {
    const json entry = parse_json(line, at);
    if (entry.contains("fingerprint"))
      is_same_server_ = fingerprint_of(entry);
    else
      restore(entry, at);
  });
  if (!is_same_server_) kept_.clear();
  if (batch_.status != "cancelling")
    folder_.journal().append(json{{"fingerprint", makings_.identity.fingerprint}}.dump());
  is_same_server_ = true;
}

BatchRun::~BatchRun() {
  for (const auto& [number, line] : under_way_) line->run = nullptr;
}

Batch BatchRun::shown() {
  Batch batch = batch_;
  if (batch.is_over() || shard_.of == 1) return batch;
  const AnswersElsewhere::Count others = elsewhere_.look(taken_);
  batch.completed += others.completed;
  batch.failed += others.failed;
  return batch;
}

void BatchRun::deal_lines() {
  dealt_ = deal(lines_, batch_.endpoint, shard_.of);
  if (shard_.number == 1) {
    order_.resize(lines_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  } else {
    order_ = dealt_[shard_.number - 1];
  }
  offset_of_.assign(lines_.size(), std::numeric_limits<std::size_t>::max());
  for (std::size_t offset = 0; offset < order_.size(); ++offset)
    offset_of_[order_[offset]] = offset;
}

/// Takes the answers of every other shard that is whole by now.
void BatchRun::take_shards() {
  is_waiting_for_shards_ = false;
  for (std::size_t number = 2; number <= shard_.of; ++number) {
    if (taken_.contains(number)) continue;
    const gpu::Shard shard{number, shard_.of};
    const std::filesystem::path other = batch_folder_ / shard.folder_name();
    if (!is_there(other / "summary.json")) {
      is_waiting_for_shards_ = true;
      continue;
    }
    const gpu::RunFolder folder = gpu::RunFolder::open(other);
    json expected = folder_.config();
    expected["shard"] = identity_of(shard, makings_);
    if (folder.config() != expected)
      throw BadInput(other.string(), "is of another batch, model or version than that of shard 1",
                     "remove it, and start the server of shard " + shard.text() + " as this one");
    const std::vector<std::size_t>& lines = dealt_[number - 1];
    std::size_t taken = 0;
    folder.for_each_sample([&](const std::string& answer) {
      const std::size_t line = lines.at(taken++);
      if (!is_written(line) && !answered_.contains(line)) keep(line, ordered_json::parse(answer));
    });
    if (taken != lines.size())
      throw BadInput(other.string(), "does not answer all lines of its shard",
                     "remove it, and draw its lines again");
    taken_.insert(number);
  }
}

/// An entry of the journal or the checkpoint: a line's answer, a choice's round, or the wish to
/// end.
void BatchRun::restore(const json& entry, const std::string& where) {
  const JsonObject object(entry, where);
  if (object.has("cancelled")) {
    batch_.status = "cancelling";
    return;
  }
  const std::size_t line = object.whole_number("line", 0, lines_.size() - 1);
  if (!object.has("result")) return take_rounds(entry, where);
  if (is_written(line) || answered_.contains(line)) return;
  kept_.erase(line);
  ordered_json result = ordered_json::parse(object.text("result"));
  ++(result["response"]["status_code"] == 200 ? batch_.completed : batch_.failed);
  answered_[line] = std::move(result);
}

void BatchRun::take_rounds(const json& entry, const std::string& where) {
  const JsonObject object(entry, where);
  const std::size_t line = object.whole_number("line", 0, lines_.size() - 1);
  if (is_written(line) || answered_.contains(line)) return;
  kept_[line][object.whole_number("choice", 0, any_number)] = {
      gpu::progress_of(object.at("progress"), where), object.at("statistics")};
}

bool BatchRun::advance(gpu::Session& session, std::size_t window) {
  keep_news();
  if (batch_.status == "cancelling") {
    cancel(session);
    return false;
  }
  // What can be answered without the session comes back at once; it is kept before the next.
  const std::vector<std::size_t>& own = dealt_[shard_.number - 1];
  while (news_.empty() && choices_ < window && next_ < own.size()) {
    const std::size_t line = own[next_++];
    if (!is_written(line) && !answered_.contains(line) && !under_way_.contains(line))
      begin(session, line);
  }
  const bool is_own_part_done = next_ == own.size() && under_way_.empty() && news_.empty();
  if (is_own_part_done && written_ < order_.size() && shard_.number == 1 && shard_.of > 1) {
    take_shards();
    keep_news();
  }
  if (written_ == order_.size() && under_way_.empty() && !batch_.is_over()) end("completed");
  return !news_.empty();
}

void BatchRun::begin(gpu::Session& session, std::size_t number) {
  const auto line = std::make_shared<Line>(*this, number);
  under_way_[number] = line;
  const BodyForm form =
      batch_.endpoint == "/v1/chat/completions" ? BodyForm::chat : BodyForm::completion;
  try {
    const BatchLine asked = read_batch_line(lines_[number], batch_.endpoint);
    ResolvedGeneration resolved =
        resolve_generation(makings_.model, makings_.identity, asked.body, form, makings_.limits,
                           seed_of_line(seed_, number));
    if (resolved.asked.stream) throw BadInput("stream", "a batch has no stream", "leave it out");
    const std::string id = id_of(number);
    line->generation = std::make_shared<Generation>(
        makings_.model, makings_.identity, makings_.counters, std::move(resolved),
        GenerationName{(form == BodyForm::chat ? "chatcmpl-" : "cmpl-") + id, batch_.created}, line,
        nullptr, batches_share);
    choices_ += line->generation->choices();
    const auto kept = kept_.find(number);
    line->is_resumed = kept != kept_.end();
    line->generation->keep(kept == kept_.end() ? std::map<std::size_t, KeptChoice>() : kept->second,
                           *line);
    line->generation->begin(session);
  } catch (const OtherModel& error) {
    line->respond(error_response(404, makings_.without_paths(error.what()), "model"));
  } catch (const BadInput& error) {
    line->respond(wrong_request(makings_.without_paths(error.what())));
  }
}

/// The name of a line's answer, by its number in the file.
std::string BatchRun::id_of(std::size_t line) const {
  return batch_.id + "-" + std::to_string(lines_[line].number);
}

ordered_json BatchRun::result_of(std::size_t line, const HttpResponse& response) const {
  const std::string id = id_of(line);
  return {{"id", "batch_req_" + id},
          {"custom_id", read_batch_line(lines_[line], batch_.endpoint).custom_id},
          {"response",
           {{"status_code", response.status},
            {"request_id", id},
            {"body", ordered_json::parse(response.body)}}},
          {"error", nullptr}};
}

/// Writes what has happened since the last call: first the rounds, then the answers.
void BatchRun::keep_news() {
  for (const std::string& round : rounds_) {
    folder_.journal().append(round);
    since_checkpoint_ += round.size();
  }
  rounds_.clear();
  const auto news = std::exchange(news_, {});
  for (const Answer& answer : news) {
    const auto found = under_way_.find(answer.line);
    if (found == under_way_.end()) continue;
    const std::shared_ptr<Line> line = found->second;
    if (line->generation) choices_ -= line->generation->choices();
    line->run = nullptr;
    under_way_.erase(found);
    // Kept rounds that the model no longer gives: the line begins anew.
    kept_.erase(answer.line);
    if (line->is_resumed && answer.response.status == 500) {
      const std::vector<std::size_t>& own = dealt_[shard_.number - 1];
      const auto offset = std::lower_bound(own.begin(), own.end(), answer.line) - own.begin();
      next_ = std::min(next_, static_cast<std::size_t>(offset));
      continue;
    }
    keep(answer.line, result_of(answer.line, answer.response));
  }
  while (written_ < order_.size() && answered_.contains(order_[written_])) {
    folder_.append_sample(spelled(answered_.at(order_[written_])));
    answered_.erase(order_[written_++]);
  }
  if (since_checkpoint_ >= makings_.checkpoint_bytes) save();
  if (!news.empty() && now() - forced_at_ >= force_seconds) {
    folder_.journal().force();
    forced_at_ = now();
  }
}

void BatchRun::keep(std::size_t line, ordered_json result) {
  const std::string text = spelled(result);
  folder_.journal().append(json{{"line", line}, {"result", text}}.dump());
  since_checkpoint_ += text.size();
  ++makings_.counters.batch_lines;
  ++(result["response"]["status_code"] == 200 ? batch_.completed : batch_.failed);
  answered_[line] = std::move(result);
}

void BatchRun::save() {
  if (batch_.is_over()) return;
  std::size_t completed = batch_.completed;
  std::size_t failed = batch_.failed;
  json entries = json::array();
  for (const auto& [line, result] : answered_) {
    --(result["response"]["status_code"] == 200 ? completed : failed);
    entries.push_back({{"line", line}, {"result", spelled(result)}});
  }
  for (const auto& [line, choices] : kept_)
    for (const auto& [choice, kept] : choices)
      entries.push_back({{"line", line},
                         {"choice", choice},
                         {"progress", gpu::to_json(kept.progress)},
                         {"statistics", kept.statistics}});
  if (batch_.status == "cancelling") entries.push_back({{"cancelled", true}});
  folder_.save_checkpoint({{"written", written_},
                           {"completed", completed},
                           {"failed", failed},
                           {"fingerprint", makings_.identity.fingerprint},
                           {"entries", std::move(entries)}});
  since_checkpoint_ = 0;
}

void BatchRun::stop(gpu::Session& session) {
  for (const auto& [number, line] : under_way_) {
    line->run = nullptr;
    if (line->generation) line->generation->leave(session);
  }
  under_way_.clear();
  news_.clear();
  choices_ = 0;
}

void BatchRun::cancel(gpu::Session& session) {
  if (batch_.is_over()) return;
  keep_news();
  if (batch_.status != "cancelling") {
    folder_.journal().append(json{{"cancelled", true}}.dump());
    folder_.journal().force();
    batch_.status = "cancelling";
  }
  stop(session);
  for (const auto& [line, result] : answered_) folder_.append_sample(spelled(result));
  answered_.clear();
  end("cancelled");
}

/// Hands the answers over to /v1/files, and ends the run folder.
void BatchRun::end(const std::string& status) {
  std::string good;
  std::string bad;
  folder_.for_each_sample([&](const std::string& line) {
    const bool is_good = json::parse(line)["response"]["status_code"] == 200;
    (is_good ? good : bad) += line + "\n";
  });
  const std::string hex = batch_.id.substr(batch_.id.find('_') + 1);
  const auto put = [&](const std::string& kind, const std::string& content) {
    // The other shards' answers are in those of shard 1.
    if (content.empty() || shard_.number > 1) return std::string();
    return files_
        .put({.id = "file-" + hex + "-" + kind,
              .filename = batch_.id + "_" + kind + ".jsonl",
              .purpose = "batch_output",
              .created = now()},
             content)
        .id;
  };
  batch_.output_file = put("output", good);
  batch_.error_file = put("error", bad);
  batch_.ended = now();
  save();
  folder_.finish({{"status", status},
                  {"output_file_id", batch_.output_file},
                  {"error_file_id", batch_.error_file},
                  {"ended_at", batch_.ended},
                  {"completed", batch_.completed},
                  {"failed", batch_.failed}});
  batch_.status = status;
  if (makings_.ended && shard_.number == 1) makings_.ended(batch_);
}

}  // namespace tempera::serve
