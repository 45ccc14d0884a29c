#include "runs/run_traces.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/regular_file.hpp"
#include "runs/run_lines.hpp"

namespace tempera::gpu {
namespace {

constexpr const char* write_again = "give a run folder as tempera sample --out made it";

/// Beyond that of 2^20 tokens whose logits are float32's largest numbers apart, and small enough
/// for differences to be numbers too.
constexpr double largest_log_p0 = 1e60;

/// Numbers as JSON writes them: the shortest decimal that reads back as the same.
std::string number_text(double value) { return nlohmann::json(value).dump(); }

[[noreturn]] void refuse_other_run(const std::string& where) {
  throw BadInput(where, "is of another run than config.json", write_again);
}

/// The prompts of a run by their ids.
class PromptNumbers {
 public:
  explicit PromptNumbers(const SamplingSettings& settings) {
    for (std::size_t p = 0; p < settings.prompts.size(); ++p)
      if (settings.prompts[p].id) prompts_[*settings.prompts[p].id] = p;
  }
  /// @throw BadInput naming `where` for an id that the run does not have
  std::size_t prompt_of(const nlohmann::json& line, const std::string& where) const {
    const auto id = line.find("id");
    if (id == line.end()) return 0;
    const auto found = prompts_.find(id->get<std::string>());
    if (found == prompts_.end()) refuse_other_run(where);
    return found->second;
  }

 private:
  std::map<std::string, std::size_t> prompts_;
};

void count(AcceptanceCount& counted, bool accepted, std::uint64_t tried = 1) {
  counted.tried += tried;
  if (accepted) ++counted.accepted;
}

/// The count of the rung that a line names, from 1.
/// @throw BadInput naming `where` for a rung that the run does not have
AcceptanceCount& count_of_rung(std::vector<AcceptanceCount>& counts, const nlohmann::json& line,
                               const std::string& where) {
  const auto rung = line.at("rung").get<std::size_t>();
  if (rung == 0 || rung > counts.size()) refuse_other_run(where);
  return counts[rung - 1];
}

/// A trace of a round in which nothing has happened so far.
RoundTrace fresh_round(const RunTraces& traces) {
  RoundTrace round;
  round.moves.resize(traces.moves.size());
  round.swaps.resize(traces.swaps.size());
  return round;
}

/// round: under way, of the lines since the last round's own
void take_line(const nlohmann::json& line, const std::string& where, const PromptNumbers& numbers,
               RunTraces& traces, RoundTrace& round,
               const std::function<void(const RoundTrace&)>& take) {
  const std::string kind = line.at("kind");
  round.decode_tokens += line.value("tokens", std::uint64_t{0});
  if (kind == "round") {
    RoundTrace trace = std::exchange(round, fresh_round(traces));
    trace.prompt = numbers.prompt_of(line, where);
    line.at("sample").get_to(trace.sample);
    line.at("stage").get_to(trace.stage);
    line.at("round").get_to(trace.round);
    line.at("replicas").get_to(trace.replicas);
    line.at("lengths").get_to(trace.lengths);
    line.at("log_p0").get_to(trace.log_p0);
    if (line.contains("confidence")) line.at("confidence").get_to(trace.confidence);
    const std::size_t rungs = traces.settings.powers.size();
    if (trace.replicas.size() != rungs || trace.lengths.size() != rungs ||
        trace.log_p0.size() != rungs ||
        (!trace.confidence.empty() && trace.confidence.size() != rungs))
      refuse_other_run(where);
    for (const double value : trace.log_p0)
      if (!(std::abs(value) < largest_log_p0))
        throw BadInput(where, "has a log p0 that no record has", write_again);
    take(trace);
  } else if (kind == "local_move" && line.at("proposed")) {
    const auto proposals = line.value("proposals", std::uint64_t{1});
    for (auto* counts : {&traces.moves, &round.moves})
      count(count_of_rung(*counts, line, where), line.at("accepted"), proposals);
  } else if (kind == "swap") {
    for (auto* counts : {&traces.swaps, &round.swaps})
      count(count_of_rung(*counts, line, where), line.at("accepted"));
  }
}

/// True if the first bytes of a line tell that it is about another sample than the one whose lines
/// begin with `start`.
bool is_of_another(std::string_view line, std::string_view start) {
  return !line.starts_with(start) &&
         (line.starts_with("{\"id\":") || line.starts_with("{\"sample\":"));
}

/// The lines of a file, those of one sample alone if it is given; a last one that is not whole is
/// left out. `take` gets the line and its place.
void for_each_line(
    const std::filesystem::path& file, const SamplingSettings& settings,
    const std::optional<OneSample>& only,
    const std::function<void(const nlohmann::json& line, const std::string& where)>& take) {
  require_no_special_file(file);
  if (!is_there(file)) throw BadInput(file.string(), "cannot be read", write_again);
  const std::uint64_t size = size_of(file);
  const auto require_at_most = [&](const std::string& where, std::uint64_t bytes,
                                   std::uint64_t most) {
    if (bytes > most)
      throw BadInput(where, "are more than " + std::to_string(most) + " bytes",
                     "draw the run with tempera plot");
  };
  const OneSample limits = only.value_or(OneSample{});
  require_at_most(file.string(), size, limits.most_bytes);
  const std::string start =
      only ? line_start(settings.prompts.at(only->prompt), only->sample) : std::string();
  std::uint64_t own_bytes = 0;
  std::size_t number = 0;
  bool is_over = false;
  const auto take_whole = [&](std::string_view line) {
    ++number;
    if (only && is_of_another(line, start)) {
      is_over = own_bytes > 0;  // a sample's lines follow each other
      return;
    }
    own_bytes += line.size() + 1;
    const std::string where = file.string() + ", line " + std::to_string(number);
    require_at_most(where + " and those of the sample before it", own_bytes, limits.most_own_bytes);
    const nlohmann::json json = parse_json(line, where);
    try {
      take(json, where);
    } catch (const nlohmann::json::exception&) {
      throw BadInput(where, "is not as tempera writes it", write_again);
    }
  };
  FileStart bytes(file, size);
  std::string line;
  for (std::string_view piece = bytes.next(); !piece.empty() && !is_over; piece = bytes.next()) {
    for (std::size_t end = 0; !is_over && (end = piece.find('\n')) != std::string_view::npos;) {
      line += piece.substr(0, end);
      take_whole(line);
      line.clear();
      piece.remove_prefix(end + 1);
    }
    line += piece;
    require_at_most(file.string() + ", line " + std::to_string(number + 1), line.size(),
                    limits.most_own_bytes);
  }
}

/// Adds those of the series by round: of stage m and round n "m.n", and of its rung k "m.n/k"; and
/// of replica j at rung k "j/k".
template <class Add>
void add_series(const nlohmann::ordered_json& report, const Add& add) {
  if (report.contains("rounds")) {
    const auto& rounds = report.at("rounds");
    for (std::size_t i = 0; i < rounds.at("rounds").size(); ++i) {
      const std::string label =
          rounds.at("stages").at(i).dump() + '.' + rounds.at("rounds").at(i).dump();
      add("round", label, "records", rounds.at("records").at(i));
      for (const char* figure : {"mean_log_p0", "mean_confidence", "first_answer_replicas"}) {
        if (!rounds.contains(figure)) continue;
        std::size_t rung = 0;
        for (const auto& list : rounds.at(figure)) {
          ++rung;
          if (!list.at(i).is_null())
            add("round", label + '/' + std::to_string(rung), figure, list.at(i));
        }
      }
    }
  }
  if (!report.contains("replica_rounds")) return;
  std::size_t replica = 0;
  for (const auto& row : report.at("replica_rounds")) {
    const std::string before = std::to_string(++replica) + '/';
    for (std::size_t k = 0; k < row.size(); ++k)
      add("replica", before + std::to_string(k + 1), "rounds", row.at(k));
  }
}

/// Adds the numbers of one report: those of the run itself, or of one prompt.
void add_figures(const std::string& prompt, const nlohmann::ordered_json& report,
                 std::string& csv) {
  const auto add = [&](const char* part, const std::string& number, const std::string& figure,
                       const nlohmann::ordered_json& value) {
    csv += csv_field(prompt) + ',' + part + ',' + number + ',' + figure + ',' + value.dump() + '\n';
  };
  for (const auto& [name, value] : report.items())
    if (value.is_number()) add("run", "", name, value);
  for (const auto& [part, list] : {std::pair{"rung", "rungs"}, std::pair{"edge", "edges"}}) {
    std::size_t number = 0;
    for (const auto& item : report.at(list)) {
      const std::string name = std::to_string(++number);
      for (const auto& [figure, value] : item.items())
        if (value.is_number()) add(part, name, figure, value);
      if (!item.contains("restart_deciles")) continue;
      std::size_t decile = 0;
      for (const auto& tenth : item.at("restart_deciles")) {
        const std::string label = name + '/' + std::to_string(++decile);
        for (const auto& [figure, value] : tenth.items())
          add("restart_decile", label, figure, value);
      }
    }
  }
  add_series(report, add);
}

}  // namespace

SamplingSettings read_settings(const std::filesystem::path& folder) {
  require_no_special_file(folder, "folder");
  const auto config = folder / "config.json";
  if (!is_there(config))
    throw BadInput(folder.string(), "holds no config.json, so it is not a run folder", write_again);
  return SamplingSettings::from_json(parse_json(read_whole(config), config.string()),
                                     config.string());
}

RunTraces read_traces(const std::filesystem::path& folder,
                      const std::function<void(const RoundTrace&)>& take,
                      const std::optional<OneSample>& only) {
  RunTraces traces;
  traces.settings = read_settings(folder);
  if (traces.settings.particles != 0)
    throw BadInput(folder.string(), "is a run of particles, which have no rungs to trace",
                   "give a run of a sampler with rungs, such as ppt");
  traces.moves.resize(traces.settings.powers.size());
  traces.swaps.resize(traces.settings.powers.size() - 1);
  const PromptNumbers numbers(traces.settings);
  RoundTrace round = fresh_round(traces);
  for_each_line(folder / "events.jsonl", traces.settings, only,
                [&](const nlohmann::json& line, const std::string& where) {
                  take_line(line, where, numbers, traces, round, take);
                });
  return traces;
}

std::optional<nlohmann::json> read_answer(const std::filesystem::path& folder,
                                          const SamplingSettings& settings, const OneSample& only) {
  std::optional<nlohmann::json> answer;
  for_each_line(folder / "samples.jsonl", settings, only,
                [&](const nlohmann::json& line, const std::string&) { answer = line; });
  return answer;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

std::string rounds_csv_header() {
  return "prompt,sample,stage,round,rung,power,replica,length,log_p0,confidence\n";
}

std::string rounds_csv_lines(const SamplingSettings& settings, const RoundTrace& trace) {
  const auto& id = settings.prompts.at(trace.prompt).id;
  const std::string before = csv_field(id.value_or("")) + ',' + std::to_string(trace.sample) + ',' +
                             std::to_string(trace.stage) + ',' + std::to_string(trace.round) + ',';
  std::string lines;
  for (std::size_t k = 0; k < settings.powers.size(); ++k)
    lines += before + std::to_string(k + 1) + ',' + number_text(settings.powers[k]) + ',' +
             std::to_string(trace.replicas[k]) + ',' + std::to_string(trace.lengths[k]) + ',' +
             number_text(trace.log_p0[k]) + ',' +
             (trace.confidence.empty() ? "" : number_text(trace.confidence[k])) + '\n';
  return lines;
}

std::string figures_csv(const nlohmann::ordered_json& summary,
                        const nlohmann::ordered_json& speed) {
  std::string csv = "prompt,part,number,figure,value\n";
  add_figures("", summary, csv);
  if (summary.contains("prompts"))
    for (const auto& report : summary.at("prompts"))
      add_figures(report.at("id").get<std::string>(), report, csv);
  for (const auto& [figure, value] : speed.items())
    csv += ",speed,," + figure + ',' + value.dump() + '\n';
  return csv;
}

}  // namespace tempera::gpu
