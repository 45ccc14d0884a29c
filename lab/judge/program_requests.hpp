#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/judge/child_program.hpp"
#include "lab/judge/judged_case.hpp"

namespace tempera::lab {

/// What a program on the other end of a pipe is told and what it writes
/// (docs/howto/check_protocol.md), read strictly: every refusal names the program and the line.
class ProgramRequests {
 public:
  ProgramRequests(const ChildProgram& program, const JudgedCase& judged)
      : program_(program), judged_(judged) {}

  [[noreturn]] void refuse(const std::string& line, const std::string& what) const;
  /// The one entry of the JSON object of a line: its key, and other entries beside it.
  nlohmann::json parse(const std::string& line) const;

  /// The answers to "next" and "logits".
  std::string tickets_after(const nlohmann::json& value, const std::string& line) const;
  std::string logits_after(const nlohmann::json& value, const std::string& line) const;

  reference::Rational number_of(const nlohmann::json& value, const std::string& line) const;
  std::vector<reference::Rational> tickets_of(const nlohmann::json& value,
                                              const std::string& line) const;
  std::vector<reference::Token> tokens_of(const nlohmann::json& value,
                                          const std::string& line) const;
  /// A state of so many records.
  JudgedState end_of(const nlohmann::json& value, std::size_t records,
                     const std::string& line) const;

 private:
  const reference::TokenRow& row_after(const nlohmann::json& value, const std::string& line) const;

  const ChildProgram& program_;
  const JudgedCase& judged_;
};

/// What the program is told once: vocabulary, terminal tokens, horizon, these powers, the rows of
/// the model, and whether it is asked for a whole answer.
/// cut: the probability below which it may leave out a path that draws on and on; 0 for never.
std::string greeting_of(const JudgedCase& judged, const std::vector<reference::Power>& powers,
                        bool is_whole, const reference::Rational& cut);
/// A state as the program is given it.
nlohmann::json state_json(const JudgedState& state);

}  // namespace tempera::lab
