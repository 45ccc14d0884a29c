#include "lab/judge/whole_program.hpp"

#include <set>
#include <stdexcept>

#include "base/error.hpp"

namespace tempera::lab {

using reference::Rational;
using reference::Token;

LawComparison compare_laws(const KernelRow& answers, const TargetLaw& other,
                           const Rational& within) {
  LawComparison comparison;
  std::set<std::pair<std::size_t, std::vector<Token>>> records;
  for (const auto& [answer, probability] : answers)
    records.emplace(answer.front().size(), answer.front());
  for (const auto& [record, probability] : other) records.emplace(record.size(), record);
  for (const auto& [length, record] : records) {
    const auto of_program = answers.find({record});
    const auto of_other = other.find(record);
    const Rational mine = of_program == answers.end() ? Rational(0) : of_program->second;
    const Rational theirs = of_other == other.end() ? Rational(0) : of_other->second;
    const Rational apart = abs(Rational(mine - theirs));
    comparison.tv += apart / 2;
    if (apart > within && !comparison.difference) comparison.difference = {record, mine, theirs};
  }
  return comparison;
}

TargetLaw target_law(const JudgedCase& judged) {
  TargetLaw law;
  for (std::size_t x = 0; x < judged.size(); ++x)
    if (judged.law()[x] != 0) law[judged.state(x).front()] = judged.law()[x];
  return law;
}

DifferingCase shrink_difference(const AnswerLaw& program, const OtherLaw& other,
                                const JudgedCase& differing, const Rational& within,
                                std::chrono::duration<double> time) {
  KernelRow answers = program(differing);
  DifferingCase smallest{differing, answers, compare_laws(answers, other(differing), within), 1};
  if (smallest.comparison.is_equal()) throw Bug("there is nothing to shrink");
  smallest.tried += shrink_case(
      smallest.judged,
      [&](const JudgedCase& candidate) {
        KernelRow now = program(candidate);
        LawComparison comparison = compare_laws(now, other(candidate), within);
        if (comparison.is_equal()) return false;
        smallest.answers = std::move(now);
        smallest.comparison = std::move(comparison);
        return true;
      },
      time);
  return smallest;
}

}  // namespace tempera::lab
