#include "lab/judge/program_step.hpp"

#include <algorithm>
#include <deque>
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
/// Draws after which an improbable path is cut off, and how many of them are shown.
constexpr std::size_t last_draws = 6;
/// Answers that are sent ahead of their requests: less than the pipe holds.
constexpr std::size_t most_bytes_ahead = 32'768;

std::string last_line_of(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  const std::string whole = end == std::string::npos ? "" : text.substr(0, end + 1);
  return whole.substr(whole.find_last_of('\n') + 1);
}

}  // namespace

/// Sends what a program will ask for, before it asks: it then reads the answer without waiting.
class ProgramStep::Ahead {
 public:
  Ahead(ChildProgram& program, const std::function<bool()>& is_over)
      : program_(program), is_over_(is_over) {}

  /// Each message is followed by one line of the program.
  void add(const std::string& message) { waiting_.push_back(message); }
  std::string receive() {
    std::string text;
    while (!waiting_.empty() && (sent_.empty() || bytes_ < most_bytes_ahead)) {
      if (!text.empty()) text += '\n';
      text += waiting_.front();
      sent_.push_back(waiting_.front().size());
      bytes_ += sent_.back();
      waiting_.pop_front();
    }
    if (!text.empty()) program_.send(text);
    std::string line = program_.receive(is_over_);
    if (!sent_.empty()) {
      bytes_ -= sent_.front();
      sent_.pop_front();
    }
    return line;
  }
  void restart() {
    waiting_.clear();
    sent_.clear();
    bytes_ = 0;
    program_.restart();
  }

 private:
  ChildProgram& program_;
  const std::function<bool()>& is_over_;
  std::deque<std::string> waiting_;
  std::deque<std::size_t> sent_;  // bytes of messages whose line has not come yet
  std::size_t bytes_ = 0;
};

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
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const ProgramPath path = tree.is_whole() ? ProgramPath() : tree.path();
  throw ProgramFailure(
      program_.refusal(
          (is_chance ? "is not deterministic given its draws: " : "fails: ") + last_line_of(text) +
              ", in the step from (" + judged_.name(from) + ") of model " + judged_.model().name() +
              ", horizon " + std::to_string(judged_.horizon()) +
              (path.empty() ? "" : ", " + Notation(numbers_of(path)).text_of_last(path)),
          is_chance ? "keep nothing from one step to the next" : "mend the program"),
      is_chance ? "" : text);
}

void ProgramStep::check_lost(const JudgedState& from, const std::optional<LostPath>& likeliest,
                             const Rational& all) const {
  if (all <= settings_.within || !likeliest) return;
  const bool may_be_left_out = all < Rational(1) / 1'000'000;
  throw ProgramFailure(
      program_.refusal(
          "fails: " + last_line_of(likeliest->why) + ", in the step from (" + judged_.name(from) +
              ") of model " + judged_.model().name() + ", horizon " +
              std::to_string(judged_.horizon()) + place_text(*likeliest) +
              (all == likeliest->probability ? ""
                                             : "; such paths have the probability " +
                                                   Notation({all}).text_of(all) + " together"),
          may_be_left_out ? "mend the program, or leave so little out by --within"
                          : "mend the program"),
      likeliest->why);
}

std::string ProgramStep::key_of(const json& asked, const std::string& line) const {
  std::string key;
  for (const auto& [name, value] : asked.items()) {
    if (name == "at" || name == "dealt" || name == "is_new") continue;
    if (!key.empty()) requests_.refuse(line, "which is not a request");
    key = name;
  }
  return key;
}

void ProgramStep::run(const JudgedState& from, const Share& share, PathTree& tree) {
  json asked{{"state", state_json(from)}};
  if (share.of > 1) asked["share"] = {share.mine, share.of};
  if (settings_.pass > 1) asked["pass"] = settings_.pass;
  if (settings_.is_every_path) asked["every_path"] = true;
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
    const std::string at =
        said.contains("at") && said["at"].is_string() ? said["at"].get<std::string>() : "";
    if (key == "seed") {
      if (settings_.seeded)
        settings_.seeded((value.is_string() ? value.get<std::string>() : value.dump()) + " at " +
                         at);
      continue;
    }
    if (key == "next" || key == "logits") {
      program_.send(key == "next" ? requests_.tickets_after(value, line)
                                  : requests_.logits_after(value, line));
      if (is_first) questions.push_back(line);
      continue;
    }
    const bool forks = key == "fork" || key == "skip" || key == "merge";
    const bool ends = key == "end" || key == "lost";
    if (is_first && !forks && !ends) return replay(from, questions, line, tree);
    is_first = false;
    if (!forks && !ends)
      requests_.refuse(line, key == "draw" || key == "below"
                                 ? "in a step that has forked"
                                 : "which asks for nothing that there is");
    // The text of an error may name addresses.
    const std::string& kept = key == "lost" ? key : line;
    if (before_ != nullptr && lines < before_->size() && (*before_)[lines] != kept)
      refuse_other(from, (*before_)[lines], line);
    if (before_ == nullptr && lines < most_lines && !settings_.is_pure) transcript_.push_back(kept);
    ++lines;
    if (key == "fork") {
      if (tree.decisions() >= settings_.requests)
        program_.refuse("asks without end: " + std::to_string(tree.decisions()) +
                            " draws in the step from (" + judged_.name(from) + ")",
                        "let a step end");
      const bool is_dealt = said.contains("dealt");
      tree.fork(requests_.tickets_of(value, line), at, is_dealt);
    } else if (key == "skip") {
      tree.skip();
    } else if (key == "merge") {
      has_merged_ = true;
      if (said.contains("is_new")) {
        // A key of this process alone, which needs no answer.
        const std::string own = std::to_string(program_.number()) + " " + value.dump();
        if (tree.merge(own) != (said["is_new"] == true))
          requests_.refuse(line, "a merge that is not what it says");
        continue;
      }
      program_.send(json{{"new", tree.merge(value.dump())}}.dump());
    } else if (key == "lost") {
      tree.lose(value.is_string() ? value.get<std::string>() : value.dump(), at);
      const auto all = tree.ends().ends.find(lost_state);
      if (all != tree.ends().ends.end()) check_lost(from, tree.lost(), all->second);
      if (settings_.one_path) settings_.one_path(tree.share_done());
    } else {
      tree.end(requests_.end_of(value, settings_.records, line));
      if (settings_.one_path) settings_.one_path(tree.share_done());
    }
  }
}

void ProgramStep::replay(const JudgedState& from, const std::vector<std::string>& questions,
                         const std::string& first_line, PathTree& tree) {
  Decisions decisions("the same decisions led to other tickets");
  const std::string state = json{{"state", state_json(from)}}.dump();
  Ahead ahead(program_, settings_.is_over);
  KernelRow row;
  std::optional<LostPath> likeliest;
  std::vector<Exchange> path;
  for (const std::string& question : questions)
    path.push_back(answered(requests_.parse(question), question, decisions));
  std::string line = first_line;
  for (std::size_t known = path.size();;) {
    LostPath lost;
    const auto to = run_path(from, decisions, ahead, std::exchange(line, ""), known, path, lost);
    row[to.value_or(lost_state)] += decisions.probability();
    if (!to) {
      if (!likeliest || lost.probability > likeliest->probability) likeliest = lost;
      check_lost(from, likeliest, row[lost_state]);
    }
    if (settings_.one_path) settings_.one_path(0.0);
    const std::vector<Exchange> before = path;
    const bool is_run_twice = to && !settings_.is_pure;
    if (is_run_twice) {
      ahead.add(state);
      for (std::size_t i = 0; i + 1 < path.size(); ++i) ahead.add(path[i].answer);
    }
    const bool has_next = decisions.next_path();
    if (has_next) {
      // What is asked until the last draw of the next path is known, and what it is answered.
      std::size_t draws = 0;
      known = 0;
      while (draws < decisions.decisions())
        draws += path[known++].kind == Exchange::Kind::question ? 0 : 1;
      path.resize(known);
      const std::size_t winner = decisions.winner(draws - 1);
      path.back().answer = path.back().kind == Exchange::Kind::below
                               ? json{{"yes", winner == 0}}.dump()
                               : json{{"winner", winner}}.dump();
      ahead.add(state);
      for (const Exchange& exchange : path) ahead.add(exchange.answer);
      decisions.skip_known();
    }
    if (is_run_twice)
      for (const Exchange& exchange : before) {
        const std::string again = ahead.receive();
        if (again != exchange.line) refuse_other(from, exchange.line, again);
      }
    if (!has_next) break;
  }
  tree.replace_by(row, likeliest);
}

std::optional<JudgedState> ProgramStep::run_path(const JudgedState& from, Decisions& decisions,
                                                 Ahead& ahead, std::string line, std::size_t known,
                                                 std::vector<Exchange>& path, LostPath& lost) {
  const Rational cut = cut_below(settings_.within);
  const auto has_no_end = [&](const std::string& why) {
    lost = {why, "", {}, decisions.probability()};
    for (std::size_t i = 0; i < decisions.decisions(); ++i)
      lost.draws.push_back({"", decisions.winner(i), decisions.share(i)});
    ahead.restart();
    return std::nullopt;
  };
  for (std::size_t request = line.empty() ? 0 : known;; ++request) {
    if (request == settings_.requests)
      program_.refuse("asks without end: " + std::to_string(request) +
                          " requests in the step from (" + judged_.name(from) + ")",
                      "let a step end, or leave out by --within what is improbable");
    if (line.empty()) {
      try {
        line = ahead.receive();
      } catch (const ProgramEnded& ended) {
        if (request < known || settings_.within == 0) throw;
        return has_no_end(ended.what());
      }
    }
    const std::string asked_line = std::exchange(line, "");
    if (request < known) {
      if (asked_line != path[request].line)
        requests_.refuse(asked_line,
                         "after the same decisions other tickets: it is not deterministic given "
                         "its draws");
      continue;
    }
    const json asked = answers_.contains(asked_line) || tickets_.contains(asked_line)
                           ? json()
                           : requests_.parse(asked_line);
    if (asked.contains("end")) {
      path.push_back({asked_line, "", Exchange::Kind::question});
      return requests_.end_of(asked["end"], settings_.records, asked_line);
    }
    path.push_back(answered(asked, asked_line, decisions));
    if (path.back().kind != Exchange::Kind::question && decisions.decisions() > draws_before_cut &&
        decisions.probability() < cut)
      return has_no_end("draws without end");
    ahead.add(path.back().answer);
  }
}

ProgramStep::Exchange ProgramStep::answered(const json& asked, const std::string& line,
                                            Decisions& decisions) {
  constexpr std::size_t most_known = 10'000;
  const auto winner_of = [&](const std::vector<Rational>& tickets) {
    try {
      return decisions.choose(tickets);
    } catch (const NotEnumerable&) {
      requests_.refuse(line,
                       "after the same decisions other tickets: it is not deterministic given its "
                       "draws");
    }
  };
  if (const auto known = answers_.find(line); known != answers_.end()) {
    if (known->second.kind == Exchange::Kind::question) return known->second;
    Exchange exchange = known->second;
    const std::size_t winner = winner_of(tickets_.at(line));
    exchange.answer = exchange.kind == Exchange::Kind::below ? json{{"yes", winner == 0}}.dump()
                                                             : json{{"winner", winner}}.dump();
    return exchange;
  }
  const std::string key = key_of(asked, line);
  const json& value = asked[key];
  Exchange exchange{line, "", Exchange::Kind::question};
  if (key == "next") {
    exchange.answer = requests_.tickets_after(value, line);
  } else if (key == "logits") {
    exchange.answer = requests_.logits_after(value, line);
  } else if (key == "draw" || key == "below") {
    std::vector<Rational> tickets;
    if (key == "draw") {
      exchange.kind = Exchange::Kind::draw;
      tickets = requests_.tickets_of(value, line);
    } else {
      exchange.kind = Exchange::Kind::below;
      const Rational probability = requests_.number_of(value, line);
      if (probability > 1) requests_.refuse(line, "whose probability is above 1");
      tickets = {probability, Rational(1 - probability)};
    }
    if (tickets_.size() > most_known) tickets_.clear(), answers_.clear();
    tickets_[line] = std::move(tickets);
    answers_[line] = exchange;
    return answered(asked, line, decisions);
  } else {
    requests_.refuse(line, "which asks for nothing that there is");
  }
  if (answers_.size() > most_known) tickets_.clear(), answers_.clear();
  answers_[line] = exchange;
  return exchange;
}

std::string text_of(const LostPath& lost) { return last_line_of(lost.why) + place_text(lost); }

std::string place_text(const LostPath& lost) {
  std::vector<Rational> numbers = numbers_of(lost.draws);
  numbers.push_back(lost.probability);
  const Notation notation(numbers);
  return (lost.at.empty() ? "" : ", at " + lost.at) + ", on a path of probability " +
         notation.text_of(lost.probability) +
         (lost.draws.empty() ? "" : ", " + notation.text_of_last(lost.draws));
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

std::string Notation::text_of_last(const ProgramPath& path) const {
  const std::size_t shown = std::min(path.size(), last_draws);
  const ProgramPath last(path.end() - static_cast<std::ptrdiff_t>(shown), path.end());
  return (shown < path.size() ? "after " + std::to_string(path.size() - shown) + " draws and "
                              : std::string("after the draws ")) +
         text_of(last);
}

std::vector<Rational> numbers_of(const ProgramPath& path) {
  std::vector<Rational> numbers;
  for (const PathDraw& draw : path) numbers.push_back(draw.probability);
  return numbers;
}

}  // namespace tempera::lab
