#include "lab/judge/program_step.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "lab/enumerate/real.hpp"

namespace tempera::lab {
namespace {

using nlohmann::json;
using reference::Rational;

/// Characters of a fraction that a person can still read.
constexpr std::size_t longest_fraction = 32;
/// Lines that are held one by one against those of a second run.
constexpr std::size_t most_lines = 200'000;

}  // namespace

void ProgramStep::refuse_other(const JudgedState& from, const std::string& before,
                               const std::string& now) const {
  program_.refuse("is not deterministic given its draws: from (" + judged_.name(from) +
                      "), after the same draws, it wrote " + in_quotes(before) + " and then " +
                      in_quotes(now),
                  "draw every decision by {\"draw\": …}, and keep nothing from one step to the "
                  "next");
}

void ProgramStep::refuse_error(const JudgedState& from, const json& error,
                               const PathTree& tree) const {
  const bool is_chance = error.contains("not deterministic");
  const json& value = is_chance ? error["not deterministic"] : error["error"];
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::string last = text.substr(text.find_last_of('\n') + 1);
  const ProgramPath path = tree.is_whole() ? ProgramPath() : tree.path();
  throw ProgramFailure(
      program_.refusal(
          (is_chance ? "is not deterministic given its draws: " + last : "fails: " + last) +
              ", in the step from (" + judged_.name(from) + ") of model " + judged_.model().name() +
              ", horizon " + std::to_string(judged_.horizon()) +
              (path.empty() ? "" : ", after the draws " + Notation(numbers_of(path)).text_of(path)),
          is_chance ? "keep nothing from one step to the next" : "mend the program"),
      is_chance ? "" : text);
}

std::string ProgramStep::key_of(const json& asked, const std::string& line) const {
  std::string key;
  for (const auto& [name, value] : asked.items()) {
    if (name == "at" || name == "dealt") continue;
    if (!key.empty()) requests_.refuse(line, "which is no request");
    key = name;
  }
  return key;
}

void ProgramStep::run(const JudgedState& from, const Share& share, PathTree& tree) {
  json asked{{"state", state_json(from)}};
  if (share.of > 1) asked["share"] = {share.mine, share.of};
  program_.send(asked.dump());
  std::size_t lines = 0;
  std::vector<std::string> questions;
  for (bool is_first = true; !tree.is_whole();) {
    const std::string line = program_.receive(settings_.is_over);
    const json said = requests_.parse(line);
    const std::string key = key_of(said, line);
    if (key == "can") {
      for (const json& ability : said[key]) takes_cases_ = takes_cases_ || ability == "case";
      continue;
    }
    if (key == "error" || key == "not deterministic") refuse_error(from, said, tree);
    const json& value = said[key];
    if (key == "next" || key == "logits") {
      program_.send(key == "next" ? requests_.tickets_after(value, line)
                                  : requests_.logits_after(value, line));
      if (is_first) questions.push_back(line);
      continue;
    }
    const bool forks = key == "fork" || key == "skip" || key == "merge";
    if (is_first && !forks && key != "end") return replay(from, std::move(questions), line, tree);
    is_first = false;
    if (!forks && key != "end")
      requests_.refuse(line, key == "draw" || key == "below"
                                 ? "in a step that has forked"
                                 : "which asks for nothing that there is");
    if (before_ != nullptr && lines < before_->size() && (*before_)[lines] != line)
      refuse_other(from, (*before_)[lines], line);
    if (before_ == nullptr && lines < most_lines && !settings_.is_pure) transcript_.push_back(line);
    ++lines;
    if (key == "fork") {
      if (tree.decisions() >= settings_.requests)
        program_.refuse("asks without end: " + std::to_string(tree.decisions()) +
                            " draws in the step from (" + judged_.name(from) + ")",
                        "let a step end");
      const bool is_dealt = said.contains("dealt");
      tree.fork(requests_.tickets_of(value, line),
                said.contains("at") && said["at"].is_string() ? said["at"].get<std::string>() : "",
                is_dealt);
    } else if (key == "skip") {
      tree.skip();
    } else if (key == "merge") {
      has_merged_ = true;
      program_.send(json{{"new", tree.merge(value.dump())}}.dump());
    } else {
      tree.end(requests_.end_of(value, settings_.records, line));
      if (settings_.one_path) settings_.one_path(tree.share_done());
    }
  }
}

void ProgramStep::replay(const JudgedState& from, std::vector<std::string> questions,
                         const std::string& first_line, PathTree& tree) {
  Decisions decisions("the same decisions led to other tickets");
  KernelRow row;
  std::string line = first_line;
  do {
    std::vector<std::string> transcript;
    if (line.empty())
      program_.send(json{{"state", state_json(from)}}.dump());
    else
      transcript = std::exchange(questions, {});
    const JudgedState to = run_path(from, decisions, std::exchange(line, ""), transcript, true);
    if (!settings_.is_pure) {
      decisions.replay();
      program_.send(json{{"state", state_json(from)}}.dump());
      if (run_path(from, decisions, "", transcript, false) != to)
        throw Bug("the same lines are other states");
    }
    row[to] += decisions.probability();
    if (settings_.one_path) settings_.one_path(0.0);
  } while (decisions.next_path());
  tree.replace_by(row);
}

JudgedState ProgramStep::run_path(const JudgedState& from, Decisions& decisions, std::string line,
                                  std::vector<std::string>& transcript, bool is_first) {
  for (std::size_t request = is_first ? transcript.size() : 0;; ++request) {
    if (request == settings_.requests)
      program_.refuse("asks without end: " + std::to_string(request) +
                          " requests in the step from (" + judged_.name(from) + ")",
                      "let a step end");
    if (line.empty()) line = program_.receive(settings_.is_over);
    if (is_first)
      transcript.push_back(line);
    else if (request >= transcript.size() || transcript[request] != line)
      refuse_other(from, request < transcript.size() ? transcript[request] : "", line);
    const json asked = requests_.parse(line);
    if (asked.contains("end")) return requests_.end_of(asked["end"], settings_.records, line);
    program_.send(answer(asked, line, decisions));
    line.clear();
  }
}

std::string ProgramStep::answer(const json& asked, const std::string& line, Decisions& decisions) {
  const std::string key = key_of(asked, line);
  const json& value = asked[key];
  const auto winner_of = [&](const std::vector<Rational>& tickets) {
    try {
      return decisions.choose(tickets);
    } catch (const NotEnumerable&) {
      requests_.refuse(line,
                       "after the same decisions other tickets: it is not deterministic given its "
                       "draws");
    }
  };
  if (key == "next") return requests_.tickets_after(value, line);
  if (key == "logits") return requests_.logits_after(value, line);
  if (key == "draw") return json{{"winner", winner_of(requests_.tickets_of(value, line))}}.dump();
  if (key == "below") {
    const Rational probability = requests_.number_of(value, line);
    if (probability > 1) requests_.refuse(line, "whose probability is above 1");
    return json{{"yes", winner_of({probability, Rational(1 - probability)}) == 0}}.dump();
  }
  requests_.refuse(line, "which asks for nothing that there is");
}

Notation::Notation(const std::vector<Rational>& numbers)
    : is_of_fractions_(std::all_of(numbers.begin(), numbers.end(), [](const Rational& number) {
        return reference::to_string(number).size() <= longest_fraction;
      })) {}

std::string Notation::text_of(const Rational& number) const {
  return is_of_fractions_ ? reference::to_string(number) : to_scientific(to_real(number));
}

std::string Notation::text_of(const ProgramPath& path) const {
  std::string text;
  for (const PathDraw& draw : path)
    text += (text.empty() ? "" : ", ") + (draw.address.empty() ? "" : draw.address + " ") +
            std::to_string(draw.winner) + " with " + text_of(draw.probability);
  return text;
}

std::vector<Rational> numbers_of(const ProgramPath& path) {
  std::vector<Rational> numbers;
  for (const PathDraw& draw : path) numbers.push_back(draw.probability);
  return numbers;
}

}  // namespace tempera::lab
