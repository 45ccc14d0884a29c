#include "runs/run_lines.hpp"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "gpu/core/lottery/exponential.hpp"
#include "gpu/session/json_line.hpp"
#include "runs/packed_tokens.hpp"
#include "runs/part_line.hpp"
#include "runs/run_folder.hpp"

namespace tempera::gpu {
namespace {

constexpr auto any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_of_32_bits = std::numeric_limits<std::uint32_t>::max();

nlohmann::ordered_json sample_json(const SamplePrompt& prompt, std::size_t sample) {
  nlohmann::ordered_json json;
  if (prompt.id) json["id"] = *prompt.id;
  json["sample"] = sample;
  return json;
}

JsonLine line_of(const SamplePrompt& prompt, std::size_t sample) {
  JsonLine line;
  line << line_start(prompt, sample);
  return line;
}

std::vector<TokenId> tokens_of(const nlohmann::json& array, const std::string& where) {
  const nlohmann::json whole{{"tokens", array}};
  const auto numbers = JsonObject(whole, where).whole_numbers("tokens", 0, most_of_32_bits);
  return {numbers.begin(), numbers.end()};
}

}  // namespace

std::string line_start(const SamplePrompt& prompt, std::size_t sample) {
  const std::string id = prompt.id ? "\"id\":" + nlohmann::json(*prompt.id).dump() + "," : "";
  return "{" + id + "\"sample\":" + std::to_string(sample) + ",";
}

std::string event_line(const SamplePrompt& prompt, std::size_t sample, const Event& event) {
  static constexpr std::array<std::string_view, 4> kinds{"extension", "local_move", "swap",
                                                         "resampling"};
  JsonLine line = line_of(prompt, sample);
  line << "\"kind\":\"" << kinds[static_cast<std::size_t>(event.kind)]
       << "\",\"turn\":" << event.turn;
  if (event.kind == Event::Kind::resampling) {
    line << ",\"effective_sample_size\":";
    line.real(event.effective_sample_size) << ",\"log_mean_weight\":";
    line.real(event.log_ratio) << ",\"resampled\":";
    line.boolean(event.accepted) << "}\n";
    return line.take();
  }
  line << ",\"rung\":" << event.rung + 1;
  if (event.kind == Event::Kind::local_move) line << ",\"r\":" << event.restart;
  if (event.proposals != 1) line << ",\"proposals\":" << event.proposals;
  if (event.kind != Event::Kind::swap) line << ",\"tokens\":" << event.tokens;
  if (event.kind == Event::Kind::local_move) {
    line << ",\"proposed\":";
    line.boolean(event.proposed);
  }
  if (event.kind != Event::Kind::extension) {
    line << ",\"accepted\":";
    line.boolean(event.accepted) << (event.early ? ",\"log_ratio_at_most\":" : ",\"log_ratio\":");
    line.real(event.log_ratio);
  }
  if (!event.drawn.empty()) line << ",\"drawn\":\"" << packed_tokens(event.drawn) << "\"";
  line << "}\n";
  return line.take();
}

std::string round_line(const SamplePrompt& prompt, std::size_t sample, const EndedRound& round,
                       const std::vector<std::size_t>& index_process) {
  const SavedProgress& progress = round.progress;
  JsonLine line = line_of(prompt, sample);
  line << "\"kind\":\"round\",\"stage\":" << progress.stage + 1 << ",\"round\":" << progress.round;
  // Particles are told apart by their place alone: resampling leaves no replica its own.
  if (index_process.size() == progress.replicas.size()) {
    line << ",\"replicas\":";
    line.list(index_process, [&](std::size_t replica) { line << replica + 1; });
  }
  line << ",\"lengths\":";
  line.list(progress.replicas, [&](const auto& tokens) { line << tokens.size(); });
  line << ",\"log_p0\":";
  line.list(progress.log_p0, [&](std::uint64_t bits) { line.real(from_bits(bits)); });
  if (!round.confidence.empty()) {
    line << ",\"confidence\":";
    line.list(round.confidence, [&](double confidence) { line.real(confidence); });
  }
  line << "}\n";
  return line.take();
}

std::string answer_line(const SampledAnswer& sampled) {
  nlohmann::ordered_json json = sample_json(sampled.prompt, sampled.sample);
  json["tokens"] = sampled.answer.tokens;
  json["text"] = sampled.text;
  json["answer"] = sampled.shown;
  json["log_p0"] = sampled.answer.log_p0;
  json["terminated"] = sampled.answer.terminated;
  if (sampled.answer.stopped) json["stopped"] = true;
  return json.dump();
}

nlohmann::json to_json(const SavedProgress& progress) {
  nlohmann::json json{{"stage", progress.stage},   {"extended", progress.extended},
                      {"round", progress.round},   {"local_moves", progress.local_moves},
                      {"sweeps", progress.sweeps}, {"replicas", progress.replicas},
                      {"log_p0", progress.log_p0}};
  if (progress.resampled != 0) json["resampled"] = progress.resampled;
  if (progress.drawn != 0) json["drawn"] = progress.drawn;
  return json;
}

SavedProgress progress_of(const nlohmann::json& json, const std::string& where) {
  const JsonObject object(json, where);
  object.only({"stage", "extended", "round", "local_moves", "sweeps", "replicas", "log_p0",
               "resampled", "drawn"});
  SavedProgress progress;
  progress.stage = object.whole_number("stage", 0, longest_horizon);
  progress.extended = object.boolean("extended");
  progress.round = object.whole_number("round", 0, any_number);
  progress.local_moves = object.whole_number("local_moves", 0, addressable_turns);
  progress.sweeps = object.whole_number("sweeps", 0, addressable_turns);
  if (object.has("resampled"))
    progress.resampled = object.whole_number("resampled", 1, longest_horizon);
  if (object.has("drawn")) progress.drawn = object.whole_number("drawn", 1, any_number);
  for (const auto& replica : object.array("replicas"))
    progress.replicas.push_back(tokens_of(replica, where));
  progress.log_p0 = object.whole_numbers("log_p0", 0, any_number);
  return progress;
}

nlohmann::json to_json(const Answer& answer) {
  nlohmann::json json{{"tokens", answer.tokens},
                      {"log_p0", to_bits(answer.log_p0)},
                      {"terminated", answer.terminated}};
  if (answer.stopped) json["stopped"] = true;
  return json;
}

Answer answer_of(const nlohmann::json& json, const std::string& where) {
  const JsonObject object(json, where);
  object.only({"tokens", "log_p0", "terminated", "stopped"});
  return {tokens_of(object.at("tokens"), where),
          from_bits(object.whole_number("log_p0", 0, any_number)), object.boolean("terminated"),
          object.has("stopped") && object.boolean("stopped")};
}

void for_each_answer(const RunFolder& folder, const SamplingSettings& settings,
                     const std::function<void(const SampledAnswer&)>& take) {
  const std::string file = (folder.path() / "samples.jsonl").string();
  const std::size_t runs = settings.prompts.size() * settings.samples;
  std::vector<std::size_t> of_shard;
  folder.for_each_part([&](const std::string& line, const LinePlace& where) {
    of_shard.push_back(part_of(line, runs, where).run_index);
  });
  std::size_t number = 0;
  folder.for_each_sample([&](const std::string& line) {
    const std::string where = file + ", line " + std::to_string(number + 1);
    const std::size_t run_index = number < of_shard.size() ? of_shard[number] : number;
    ++number;
    const nlohmann::json json = parse_json(line, where);
    const JsonObject object(json, where);
    object.only({"id", "sample", "tokens", "text", "answer", "log_p0", "terminated", "stopped"});
    const std::size_t sample = run_index % settings.samples;
    if (run_index / settings.samples >= settings.prompts.size() ||
        object.whole_number("sample", 0, any_number) != sample)
      throw BadInput(where, "is not the answer whose turn it is", remedy_for(file));
    const SamplePrompt& prompt = settings.prompts[run_index / settings.samples];
    Answer answer{tokens_of(object.at("tokens"), where), object.finite_number("log_p0"),
                  object.boolean("terminated"), object.has("stopped") && object.boolean("stopped")};
    take({prompt, sample, std::move(answer), object.text("text"), object.text("answer")});
  });
}

}  // namespace tempera::gpu
