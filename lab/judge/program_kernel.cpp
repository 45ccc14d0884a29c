#include "lab/judge/program_kernel.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "lab/judge/child_program.hpp"
#include "lab/judge/decision_tree.hpp"
#include "lab/judge/shrink.hpp"
#include "lab/enumerate/real.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "reference/numbers/common_denominator.hpp"

namespace tempera::lab {
namespace {

using nlohmann::json;
using reference::Integer;
using reference::Rational;
using reference::Token;
using reference::TokenRow;

constexpr const char* protocol = "see docs/check_protocol.md";
constexpr std::size_t most_tickets = 1'000'000;

json state_json(const JudgedState& state) {
  return state.size() == 1 ? json(state.front()) : json(state);
}

/// What the program is told once: all of the case but the next-token laws.
std::string greeting_of(const JudgedCase& judged) {
  const auto& model = judged.model();
  json terminal = json::array();
  for (Token v = 0; v < model.vocabulary_size(); ++v)
    if (model.is_terminal(v)) terminal.push_back(v);
  json greeting{{"tempera", 1},
                {"vocabulary", model.vocabulary()},
                {"terminal", terminal},
                {"horizon", judged.horizon()}};
  json powers = json::array();
  for (const auto& power : judged.target().powers)
    powers.push_back(reference::to_string(power.value()));
  greeting["powers"] = powers;
  return greeting.dump();
}

/// An integer as JSON writes it, however long.
std::string list_of(const std::vector<Integer>& values) {
  std::string list;
  for (const Integer& value : values) list += (list.empty() ? "" : ",") + value.str();
  return "[" + list + "]";
}

}  // namespace

/// One step of the program on one path: its requests, answered.
class ProgramKernel::Step {
 public:
  Step(ChildProgram& program, const JudgedCase& judged, DecisionTree& tree, const Limits& limits)
      : program_(program), judged_(judged), tree_(tree), limits_(limits) {}

  /// transcript: what the program has written on this path before, or nothing yet.
  JudgedState run(const JudgedState& from, std::vector<std::string>& transcript) {
    const bool is_first = transcript.empty();
    program_.send(json{{"state", state_json(from)}}.dump());
    for (std::size_t request = 0;; ++request) {
      if (request == limits_.requests)
        program_.refuse("asks without end: " + std::to_string(request) +
                            " requests in the step from (" + judged_.name(from) + ")",
                        "let a step end");
      const std::string line = program_.receive();
      if (is_first)
        transcript.push_back(line);
      else if (request >= transcript.size() || transcript[request] != line)
        program_.refuse(
            "is not deterministic given its draws: from (" + judged_.name(from) +
                "), after the same draws, it wrote " +
                in_quotes(request < transcript.size() ? transcript[request] : "") +
                " and then " + in_quotes(line),
            "draw every decision by {\"draw\": …}, and keep nothing from one step to the next");
      const json asked = parse(line);
      if (asked.contains("end")) return end_of(asked["end"], line);
      program_.send(answer(asked, line));
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& line, const std::string& what) const {
    program_.refuse("writes " + in_quotes(line) + ", " + what, protocol);
  }

  json parse(const std::string& line) const {
    json value;
    try {
      value = parse_json(line, "");
    } catch (const BadInput&) {
      refuse(line, "which is no JSON");
    }
    if (!value.is_object() || value.size() != 1) refuse(line, "which is no request");
    return value;
  }

  std::string answer(const json& asked, const std::string& line) {
    const std::string name = asked.begin().key();
    const json& value = asked.begin().value();
    if (name == "next") return tickets_after(value, line);
    if (name == "logits") return logits_after(value, line);
    if (name == "draw") return json{{"winner", winner_of(tickets_of(value, line), line)}}.dump();
    if (name == "below") {
      const Rational probability = number_of(value, line);
      if (probability > 1) refuse(line, "whose probability is above 1");
      const std::size_t winner = winner_of({probability, Rational(1 - probability)}, line);
      return json{{"yes", winner == 0}}.dump();
    }
    refuse(line, "which asks for nothing that there is");
  }

  std::vector<Token> tokens_of(const json& value, const std::string& line) const {
    if (!value.is_array()) refuse(line, "which is no list of token numbers");
    std::vector<Token> tokens;
    for (const json& token : value) {
      if (!token.is_number_unsigned() || token.get<std::uint64_t>() > UINT32_MAX)
        refuse(line, "which is no list of token numbers");
      tokens.push_back(token.get<Token>());
    }
    return tokens;
  }

  const TokenRow& row_after(const json& value, const std::string& line) const {
    const std::vector<Token> prefix = tokens_of(value, line);
    for (const Token token : prefix)
      if (token >= judged_.model().vocabulary_size() || judged_.model().is_terminal(token))
        refuse(line, "a prefix that no token follows");
    return judged_.model().token_row(prefix);
  }

  std::string tickets_after(const json& value, const std::string& line) const {
    const TokenRow& row = row_after(value, line);
    json fractions = json::array();
    for (const Rational& probability : row) fractions.push_back(reference::to_string(probability));
    return "{\"tickets\":" + list_of(reference::over_common_denominator(row).numerators) +
           ",\"p\":" + fractions.dump() + "}";
  }

  std::string logits_after(const json& value, const std::string& line) const {
    json logits = json::array();
    for (const Rational& probability : row_after(value, line))
      logits.push_back(probability == 0 ? json(nullptr)
                                        : json(log(to_real(probability)).convert_to<double>()));
    return json{{"logits", logits}}.dump();
  }

  /// Exactly what stands there: a whole number, a double, or a fraction as text.
  Rational number_of(const json& value, const std::string& line) const {
    Rational number;
    if (value.is_number_unsigned()) {
      number = Rational(Integer(value.get<std::uint64_t>()));
    } else if (value.is_number_float() && std::isfinite(value.get<double>())) {
      // A whole number too long for 64 bits is read as a double, rounded.
      if (std::abs(value.get<double>()) >= 0x1p64)
        refuse(line, "a number of more than 64 bits: write it in quotes");
      mpq_set_d(number.backend().data(), value.get<double>());
    } else if (value.is_string()) {
      try {
        number = reference::parse_rational(value.get<std::string>(), "");
      } catch (const BadInput&) {
        refuse(line, "which is no number");
      }
    } else {
      refuse(line, "which is no number that is at least 0");
    }
    if (number < 0) refuse(line, "which is below 0");
    return number;
  }

  std::vector<Rational> tickets_of(const json& value, const std::string& line) const {
    if (!value.is_array()) refuse(line, "which is no list of tickets");
    if (value.empty()) refuse(line, "a draw from nothing");
    if (value.size() > most_tickets) refuse(line, "a draw among more than a million");
    std::vector<Rational> tickets;
    Rational total = 0;
    for (const json& ticket : value) total += tickets.emplace_back(number_of(ticket, line));
    if (total == 0) refuse(line, "a draw whose tickets are all 0");
    return tickets;
  }

  std::size_t winner_of(const std::vector<Rational>& tickets, const std::string& line) {
    try {
      return tree_.choose(tickets);
    } catch (const std::logic_error&) {
      refuse(line,
             "after the same decisions other tickets: it is not deterministic given its "
             "draws");
    }
  }

  JudgedState end_of(const json& value, const std::string& line) const {
    JudgedState state;
    if (judged_.rungs() == 1) {
      state.push_back(tokens_of(value, line));
      return state;
    }
    if (!value.is_array()) refuse(line, "which is no list of records");
    for (const json& record : value) state.push_back(tokens_of(record, line));
    return state;
  }

  ChildProgram& program_;
  const JudgedCase& judged_;
  DecisionTree& tree_;
  const Limits& limits_;
};

ProgramKernel::ProgramKernel(std::string command, const Limits& limits)
    : command_(std::move(command)), limits_(limits) {}

ProgramKernel::~ProgramKernel() = default;

void ProgramKernel::start(const JudgedCase& judged) {
  // Models may be greeted alike and differ in their rows, which a program may remember.
  const std::string greeting = greeting_of(judged);
  std::string of_case = greeting + model_json(judged.model());
  if (program_ && of_case == of_case_) return;
  program_.reset();
  program_ = std::make_unique<ChildProgram>(command_, limits_.timeout);
  program_->send(greeting);
  of_case_ = std::move(of_case);
}

KernelRow ProgramKernel::row(const JudgedCase& judged, const JudgedState& from) {
  start(judged);
  KernelRow row;
  DecisionTree tree;
  std::size_t paths = 0;
  try {
    do {
      if (paths++ == limits_.paths)
        program_->refuse("takes more than " + std::to_string(limits_.paths) +
                             " paths from the state (" + judged.name(from) + ")",
                         "use a smaller horizon or model");
      std::vector<std::string> transcript;
      const JudgedState to = Step(*program_, judged, tree, limits_).run(from, transcript);
      tree.replay();
      if (Step(*program_, judged, tree, limits_).run(from, transcript) != to)
        throw std::logic_error("the same lines are other states");
      row[to] += tree.probability();
      steps_ += 2;
    } while (tree.next_path());
  } catch (...) {
    program_.reset();  // nothing of it is left running, and the next case starts it anew
    throw;
  }
  return row;
}

}  // namespace tempera::lab
