#include "runs/audit/audit.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "gpu/core/statistics/tempering_statistics.hpp"
#include "gpu/session/answer_text.hpp"
#include "runs/audit/replay_model.hpp"
#include "runs/ended_round.hpp"
#include "runs/packed_tokens.hpp"
#include "runs/run_lines.hpp"

namespace tempera::gpu {
namespace {

using Json = nlohmann::json;
using nlohmann::ordered_json;

/// Leaves draw_answers with what was found.
struct Found {
  AuditDifference difference;
};

/// The recorded lines of one answer.
struct RecordedRun {
  std::vector<std::string> events;
  std::optional<std::string> sample;
};

/// A line, or nothing if it is not an object of JSON.
Json object_of(const std::string& line) {
  Json value = Json::parse(line, nullptr, false);
  return value.is_object() ? value : Json();
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t most = 80;
  return text.size() > most ? text.substr(0, most - 3) + "..." : text;
}

/// The name of an event or a round, by its line.
std::string name_of_line(const Json& line) {
  const auto number = [&](const char* key) { return shown(line.value(key, Json(0))); };
  const std::string kind = line.value("kind", "");
  if (kind == "round") return "stage " + number("stage") + ", round " + number("round");
  if (kind == "extension") return "extension " + number("turn") + " of rung " + number("rung");
  if (kind == "local_move") return "local move " + number("turn") + " of rung " + number("rung");
  if (kind == "swap") return "swap " + number("turn") + " of rung " + number("rung");
  if (kind == "resampling") return "resampling " + number("turn");
  return "answer";
}

/// Where two lists of packed tokens part.
std::pair<std::string, std::string> parting(const std::string& recorded, const std::string& drawn) {
  std::vector<TokenId> of_record;
  try {
    of_record = unpacked_tokens(recorded, "");
  } catch (const BadInput&) {
    return {", drawn", "the recorded tokens are not as tempera writes them"};
  }
  const std::vector<TokenId> own = unpacked_tokens(drawn, "");
  std::size_t t = 0;
  while (t < own.size() && t < of_record.size() && own[t] == of_record[t]) ++t;
  const auto token = [&](const std::vector<TokenId>& tokens) {
    return t < tokens.size() ? std::to_string(tokens[t]) : std::string("none");
  };
  return {", token " + std::to_string(t + 1),
          "recorded is " + token(of_record) + ", drawn was " + token(own)};
}

/// Events and answers compared with what the sampler does now.
class Auditor final : public DrawListener {
 public:
  Auditor(const AuditRecord& record, const TokenText& text, AuditFinding& finding,
          const AuditLayout& layout, std::size_t answers)
      : record_(record),
        settings_(record.settings),
        text_(text),
        plan_(settings_.plan()),
        is_tokenwise_(sampler_named(settings_.sampler, record.where).program == tokenwise_sampling),
        finding_(finding),
        layout_(layout),
        answers_(answers) {
    read();
  }

  std::size_t runs() const { return settings_.prompts.size() * settings_.samples; }

  /// The tokens of every proposal and extension.
  std::map<DrawnFor, std::vector<TokenId>> recorded_tokens() const {
    std::map<DrawnFor, std::vector<TokenId>> tokens;
    const std::vector<Prompt> prompts = settings_.numbered_prompts();
    for (const auto& [run_index, run] : runs_) {
      const PromptNumber number = prompts[run_index / settings_.samples].number;
      const DrawnFor of{number.seed(settings_.seed), number.in_address,
                        static_cast<std::uint32_t>(run_index % settings_.samples)};
      if (is_tokenwise_)
        take_answer(run, of, tokens);
      else
        for (const std::string& line : run.events)
          take_event(object_of(line), of, plan_.until_kept, tokens);
    }
    return tokens;
  }

  /// Where a token is not the recorded one.
  AuditDifference difference_of(const TokenDiffers& token) const {
    const std::vector<Prompt> prompts = settings_.numbered_prompts();
    const DrawAddress& at = token.draw.address;
    std::size_t prompt = 0;
    while (prompt + 1 < prompts.size() &&
           (prompts[prompt].number.seed(settings_.seed) != token.draw.seed ||
            prompts[prompt].number.in_address != at.prompt_index))
      ++prompt;
    const std::size_t run_index = prompt * settings_.samples + at.sample_index;
    const bool is_extension = at.purpose == Purpose::extension_token;
    const auto spelt = [](const std::optional<TokenId>& id) {
      return id ? std::to_string(*id) : std::string("none");
    };
    return {run_index,
            run_name(run_index) + (is_extension ? ", extension " : ", local move ") +
                std::to_string(at.turn) + " of rung " + std::to_string(at.rung + 1) +
                ", position " + std::to_string(at.position + 1),
            "the recorded token is " + spelt(token.recorded) +
                (token.drawn ? ", and " + spelt(token.drawn) + " is drawn" : ", and one is drawn")};
  }

 private:
  void read() {
    std::map<std::string, std::size_t> prompt_of;
    for (std::size_t p = 0; p < settings_.prompts.size(); ++p)
      prompt_of[settings_.prompts[p].id.value_or("")] = p;
    const auto run_of = [&](const Json& line) -> std::optional<std::size_t> {
      if (!line.is_object() || !line.contains("sample") || !line["sample"].is_number_unsigned())
        return std::nullopt;
      if (line.contains("id") && !line["id"].is_string()) return std::nullopt;
      const auto prompt = prompt_of.find(line.value("id", ""));
      const auto sample = line["sample"].get<std::size_t>();
      if (prompt == prompt_of.end() || sample >= settings_.samples) return std::nullopt;
      return prompt->second * settings_.samples + sample;
    };
    const auto refuse = [&](const char* file, std::size_t line) {
      AuditDifference difference{0, std::string(file) + ", line " + std::to_string(line + 1),
                                 "tells of no answer that the settings ask for"};
      throw Found{std::move(difference)};
    };
    for (std::size_t i = 0; i < runs(); ++i) runs_[i];
    for (std::size_t i = 0; i < record_.events.size(); ++i) {
      const auto run = run_of(object_of(record_.events[i]));
      if (!run) refuse("events", i);
      runs_[*run].events.push_back(record_.events[i]);
    }
    for (std::size_t i = 0; i < record_.samples.size(); ++i) {
      const auto run = run_of(object_of(record_.samples[i]));
      if (!run || runs_[*run].sample) refuse("samples", i);
      runs_[*run].sample = record_.samples[i];
    }
  }

  void take_answer(const RecordedRun& run, const DrawnFor& of,
                   std::map<DrawnFor, std::vector<TokenId>>& tokens) const {
    const Json sample = run.sample ? object_of(*run.sample) : Json();
    if (!sample.is_object() || !sample.contains("tokens") || !sample["tokens"].is_array()) return;
    std::vector<TokenId> answer;
    for (const Json& token : sample["tokens"])
      answer.push_back(token.is_number_unsigned() && token <= UINT32_MAX ? token.get<TokenId>()
                                                                         : UINT32_MAX);
    std::size_t first = 0;
    for (std::size_t m = 0; m < plan_.stages.size() && first < answer.size(); ++m) {
      const std::size_t last = std::min(plan_.stages[m].horizon, answer.size());
      DrawnFor stage = of;
      stage.turn = static_cast<std::uint32_t>(m);
      tokens[stage] = {answer.begin() + static_cast<std::ptrdiff_t>(first),
                       answer.begin() + static_cast<std::ptrdiff_t>(last)};
      first = last;
    }
  }

  /// @param of of the answer
  /// @param are_lists whether an event lists several dead proposals
  static void take_event(const Json& event, DrawnFor of, bool are_lists,
                         std::map<DrawnFor, std::vector<TokenId>>& tokens) {
    if (!event.is_object() || !event.contains("drawn")) return;
    try {
      const std::vector<TokenId> drawn =
          unpacked_tokens(event.at("drawn").get<std::string>(), "events");
      of.turn = event.at("turn").get<std::uint32_t>();
      of.rung = static_cast<std::uint16_t>(event.at("rung").get<std::size_t>() - 1);
      if (event.at("kind") == "local_move") of.purpose = Purpose::proposal_token;
      const auto proposals = event.value("proposals", std::uint32_t{1});
      if (!are_lists || event.at("accepted")) {
        tokens[of] = drawn;
        return;
      }
      const std::uint32_t first = of.turn + 1 - proposals;
      for (std::size_t i = 0; i + 1 < drawn.size(); i += 2 + drawn[i + 1]) {
        of.turn = first + drawn[i];
        const auto begin = drawn.begin() + static_cast<std::ptrdiff_t>(i + 2);
        if (drawn[i + 1] > static_cast<std::size_t>(drawn.end() - begin)) return;
        tokens[of] = {begin, begin + drawn[i + 1]};
      }
    } catch (const Json::exception&) {
      // The line that is written now will differ from it.
    } catch (const BadInput&) {
    }
  }

  std::string run_name(std::size_t run_index) const {
    const SamplePrompt& prompt = settings_.prompts[run_index / settings_.samples];
    const std::string sample = "sample " + std::to_string(run_index % settings_.samples);
    return prompt.id ? "prompt " + in_quotes(*prompt.id) + ", " + sample : sample;
  }

  /// Compares the next line of a run with the one that is written now.
  void compare(std::size_t run_index, const std::optional<std::string>& recorded,
               const std::string& written) const {
    if (recorded == written) return;
    const auto own = Json::parse(written);
    const std::string place = run_name(run_index) + ", " + name_of_line(own);
    if (!recorded) throw Found{{run_index, place, "is not recorded"}};
    const Json other = object_of(*recorded);
    if (!other.is_object()) throw Found{{run_index, place, "the recorded line is not JSON"}};
    // In the order in which the line is written.
    const ordered_json in_order = ordered_json::parse(written);
    for (const auto& [key, value] : in_order.items()) {
      const Json now = Json::parse(value.dump());
      if (other.contains(key) && other.at(key) == now) continue;
      const Json before = other.value(key, Json());
      if (key == "drawn" && before.is_string()) {
        const auto [where, what] = parting(before.get<std::string>(), now.get<std::string>());
        throw Found{{run_index, place + where, what}};
      }
      throw Found{{run_index, place + ", " + key,
                   "recorded is " + shown(before) + ", and it is " + shown(now)}};
    }
    for (const auto& [key, value] : other.items())
      if (!own.contains(key))
        throw Found{
            {run_index, place + ", " + key, "recorded is " + shown(value) + ", and it is none"}};
    throw Found{{run_index, place, "the line is written otherwise"}};
  }

  std::optional<std::string> next_line(std::size_t run_index) {
    const std::vector<std::string>& events = runs_.at(run_index).events;
    std::size_t& told = told_[run_index];
    return told < events.size() ? std::optional(events[told++]) : std::nullopt;
  }

  void before_batch(const SessionTotals&) override {
    if (layout_.on_pass) layout_.on_pass(ended_, answers_);
  }

  void round_ended(RequestId run_index, std::size_t, const Progress& progress,
                   std::span<const Event> events) override {
    const EndedRound round = ended_round(run_index, progress, events, settings_.options.confidence);
    const SamplePrompt& prompt = settings_.prompts[run_index / settings_.samples];
    const std::size_t sample = run_index % settings_.samples;
    auto& statistics =
        statistics_.try_emplace(run_index, Ladder(settings_.powers), plan_).first->second;
    statistics.count(round.events);
    const auto compare_line = [&](std::string line) {
      line.pop_back();
      compare(run_index, next_line(run_index), line);
    };
    for (const Event& event : round.events) {
      if (!is_tokenwise_) finding_.drawn_tokens += event.tokens;
      compare_line(event_line(prompt, sample, event));
    }
    compare_line(round_line(prompt, sample, round, statistics.index_process()));
  }

  void answered(RequestId run_index, std::size_t, const Answer& answer) override {
    if (const auto line = next_line(run_index))
      throw Found{{run_index, run_name(run_index) + ", " + name_of_line(object_of(*line)),
                   "is recorded and does not happen"}};
    const SampledAnswer sampled{settings_.prompts[run_index / settings_.samples],
                                run_index % settings_.samples, answer, text_.decode(answer.tokens),
                                text_of(answer, text_, settings_.stop)};
    compare(run_index, runs_.at(run_index).sample, answer_line(sampled));
    if (is_tokenwise_) finding_.drawn_tokens += answer.tokens.size();
    ++ended_;
    ++finding_.answers;
  }

  const AuditRecord& record_;
  const SamplingSettings& settings_;
  const TokenText& text_;
  Plan plan_;
  bool is_tokenwise_;
  AuditFinding& finding_;
  const AuditLayout& layout_;
  std::size_t answers_;
  std::map<std::size_t, RecordedRun> runs_;
  std::map<std::size_t, std::size_t> told_;  ///< lines of each run that were compared
  std::map<std::size_t, TemperingStatistics> statistics_;
  std::size_t ended_ = 0;
};

/// Replays the runs [first, end). Returns the first difference that is met, in the order of the
/// work.
std::optional<AuditDifference> replay(LanguageModel& model, const TokenText& text,
                                      const AuditRecord& record, const AuditLayout& layout,
                                      std::size_t first, std::size_t end, AuditFinding& finding) {
  const SamplingSettings& settings = record.settings;
  std::optional<AuditDifference> difference;
  try {
    Auditor auditor(record, text, finding, layout, end - first);
    ReplayModel replayed(model, settings.terminal, settings.horizon, auditor.recorded_tokens());
    DrawSettings draw = settings.draw_settings();
    static_cast<SessionOptions&>(draw) = layout.session;
    draw.next_run = [next = first, end]() mutable {
      return next < end ? std::optional(next++) : std::nullopt;
    };
    const std::vector<Prompt> prompts = settings.numbered_prompts();
    try {
      draw_answers(replayed, prompts, sampler_named(settings.sampler, record.where).program, draw,
                   auditor, &text);
    } catch (const TokenDiffers& token) {
      difference = auditor.difference_of(token);
    } catch (const Found& found) {
      difference = found.difference;
    }
    finding.passes += replayed.passes();
    finding.computed_tokens += replayed.computed_tokens();
  } catch (const Found& found) {
    difference = found.difference;
  }
  return difference;
}

}  // namespace

AuditFinding audit(LanguageModel& model, const TokenText& text, const AuditRecord& record,
                   const AuditLayout& layout) {
  AuditFinding finding;
  const double began = seconds_now();
  const std::size_t runs = record.settings.prompts.size() * record.settings.samples;
  finding.difference = replay(model, text, record, layout, 0, runs, finding);
  // Runs share batches, so that an earlier one may differ too; alone, a run has one order.
  while (finding.difference) {
    AuditFinding again;
    const std::size_t found = finding.difference->run_index;
    const auto earlier = replay(model, text, record, layout, 0, found, again);
    if (!earlier) {
      if (auto alone = replay(model, text, record, layout, found, found + 1, again))
        finding.difference = std::move(alone);
      break;
    }
    finding.difference = earlier;
  }
  finding.seconds = seconds_now() - began;
  return finding;
}

}  // namespace tempera::gpu
