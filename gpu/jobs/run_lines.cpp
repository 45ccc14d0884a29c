#include "gpu/jobs/run_lines.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "gpu/lottery/exponential.hpp"

namespace tempera::gpu {
namespace {

constexpr auto any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_of_32_bits = std::numeric_limits<std::uint32_t>::max();

nlohmann::ordered_json place_of(const SamplePrompt& prompt, std::size_t sample) {
  nlohmann::ordered_json json;
  if (prompt.id) json["id"] = *prompt.id;
  json["sample"] = sample;
  return json;
}

std::vector<TokenId> tokens_of(const nlohmann::json& array, const std::string& where) {
  const nlohmann::json whole{{"tokens", array}};
  const auto numbers = JsonObject(whole, where).whole_numbers("tokens", 0, most_of_32_bits);
  return {numbers.begin(), numbers.end()};
}

}  // namespace

std::string event_line(const SamplePrompt& prompt, std::size_t sample, const Event& event) {
  static constexpr const char* kinds[] = {"extension", "local_move", "swap", "resampling"};
  nlohmann::ordered_json json = place_of(prompt, sample);
  json["kind"] = kinds[static_cast<int>(event.kind)];
  json["turn"] = event.turn;
  if (event.kind == Event::Kind::resampling) {
    json["effective_sample_size"] = event.effective_sample_size;
    json["resampled"] = event.accepted;
    return json.dump() + '\n';
  }
  json["rung"] = event.rung + 1;
  if (event.kind == Event::Kind::local_move) json["r"] = event.restart;
  if (event.kind != Event::Kind::swap) json["tokens"] = event.tokens;
  if (event.kind == Event::Kind::local_move) json["proposed"] = event.proposed;
  if (event.kind != Event::Kind::extension) {
    json["accepted"] = event.accepted;
    json[event.early ? "log_ratio_at_most" : "log_ratio"] = event.log_ratio;
  }
  return json.dump() + '\n';
}

std::string round_line(const SamplePrompt& prompt, std::size_t sample, const EndedRound& round,
                       const std::vector<std::size_t>& index_process) {
  const SavedProgress& progress = round.progress;
  nlohmann::ordered_json json = place_of(prompt, sample);
  json["kind"] = "round";
  json["stage"] = progress.stage + 1;
  json["round"] = progress.round;
  // Particles are told apart by their place alone: resampling leaves no replica its own.
  const bool are_rungs = index_process.size() == progress.replicas.size();
  for (std::size_t k = 0; k < progress.replicas.size(); ++k) {
    if (are_rungs) json["replicas"].push_back(index_process[k] + 1);
    json["lengths"].push_back(progress.replicas[k].size());
    json["log_p0"].push_back(from_bits(progress.log_p0[k]));
    if (!round.confidence.empty()) json["confidence"].push_back(round.confidence[k]);
  }
  return json.dump() + '\n';
}

std::string answer_line(const SampledAnswer& sampled) {
  nlohmann::ordered_json json = place_of(sampled.prompt, sampled.sample);
  json["tokens"] = sampled.answer.tokens;
  json["text"] = sampled.text;
  json["answer"] = sampled.shown;
  json["log_p0"] = sampled.answer.log_p0;
  json["terminated"] = sampled.answer.terminated;
  return json.dump();
}

nlohmann::json to_json(const SavedProgress& progress) {
  nlohmann::json json{{"stage", progress.stage},   {"extended", progress.extended},
                      {"round", progress.round},   {"local_moves", progress.local_moves},
                      {"sweeps", progress.sweeps}, {"replicas", progress.replicas},
                      {"log_p0", progress.log_p0}};
  if (progress.resampled != 0) json["resampled"] = progress.resampled;
  return json;
}

SavedProgress progress_of(const nlohmann::json& json, const std::string& where) {
  const JsonObject object(json, where);
  object.only(
      {"stage", "extended", "round", "local_moves", "sweeps", "replicas", "log_p0", "resampled"});
  SavedProgress progress;
  progress.stage = object.whole_number("stage", 0, longest_horizon);
  progress.extended = object.boolean("extended");
  progress.round = object.whole_number("round", 0, any_number);
  progress.local_moves = object.whole_number("local_moves", 0, addressable_turns);
  progress.sweeps = object.whole_number("sweeps", 0, addressable_turns);
  if (object.has("resampled"))
    progress.resampled = object.whole_number("resampled", 1, longest_horizon);
  for (const auto& replica : object.array("replicas"))
    progress.replicas.push_back(tokens_of(replica, where));
  progress.log_p0 = object.whole_numbers("log_p0", 0, any_number);
  return progress;
}

nlohmann::json to_json(const Answer& answer) {
  return {{"tokens", answer.tokens},
          {"log_p0", to_bits(answer.log_p0)},
          {"terminated", answer.terminated}};
}

Answer answer_of(const nlohmann::json& json, const std::string& where) {
  const JsonObject object(json, where);
  object.only({"tokens", "log_p0", "terminated"});
  return {tokens_of(object.at("tokens"), where),
          from_bits(object.whole_number("log_p0", 0, any_number)), object.boolean("terminated")};
}

void for_each_answer(const RunFolder& folder, const SamplingSettings& settings,
                     const std::function<void(const SampledAnswer&)>& take) {
  const std::string file = (folder.path() / "samples.jsonl").string();
  std::size_t place = 0;
  folder.for_each_sample([&](const std::string& line) {
    const std::string where = file + ", line " + std::to_string(place + 1);
    const nlohmann::json json = parse_json(line, where);
    const JsonObject object(json, where);
    object.only({"id", "sample", "tokens", "text", "answer", "log_p0", "terminated"});
    const std::size_t sample = place % settings.samples;
    if (place / settings.samples >= settings.prompts.size() ||
        object.whole_number("sample", 0, any_number) != sample)
      throw BadInput(where, "is not the answer whose turn it is", "start the run again elsewhere");
    const SamplePrompt& prompt = settings.prompts[place / settings.samples];
    Answer answer{tokens_of(object.at("tokens"), where), object.finite_number("log_p0"),
                  object.boolean("terminated")};
    take({prompt, sample, std::move(answer), object.text("text"), object.text("answer")});
    ++place;
  });
}

}  // namespace tempera::gpu
