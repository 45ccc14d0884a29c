#include "lab/judge/whole_program.hpp"

#include <algorithm>
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
  const auto without_end = answers.find(lost_state);
  const Rational lost = without_end == answers.end() ? Rational(0) : without_end->second;
  for (const auto& [answer, probability] : answers)
    if (answer != lost_state) records.emplace(answer.front().size(), answer.front());
  for (const auto& [record, probability] : other) records.emplace(record.size(), record);
  for (const auto& [length, record] : records) {
    const auto of_program = answers.find({record});
    const auto of_other = other.find(record);
    const Rational mine = of_program == answers.end() ? Rational(0) : of_program->second;
    const Rational theirs = of_other == other.end() ? Rational(0) : of_other->second;
    const Rational apart = abs(Rational(mine - theirs));
    comparison.tv += apart / 2;
    const bool differs = apart > within + (mine < theirs ? lost : Rational(0));
    if (differs && !comparison.difference) comparison.difference = {record, mine, theirs};
  }
  return comparison;
}

TargetLaw target_law(const JudgedCase& judged) {
  TargetLaw law;
  for (std::size_t x = 0; x < judged.size(); ++x)
    if (judged.law()[x] != 0) law[judged.state(x).front()] = judged.law()[x];
  return law;
}

std::vector<JudgedCase> first_cases(const std::vector<JudgedCase>& asked) {
  std::vector<JudgedCase> first;
  std::set<std::string> known;
  const auto key = [](const reference::FiniteModel& model, std::size_t horizon) {
    return std::to_string(horizon) + model_json(model);
  };
  for (const JudgedCase& one : asked) known.insert(key(one.model(), one.horizon()));
  for (const JudgedCase& one : asked) {
    std::vector<reference::FiniteModel> models{one.model()};
    for (reference::FiniteModel& smaller : smaller_models(one.model()))
      if (smaller.vocabulary_size() < one.model().vocabulary_size())
        models.push_back(std::move(smaller));
    for (const reference::FiniteModel& model : models)
      for (std::size_t horizon = 1; horizon <= one.horizon(); ++horizon) {
        if (!known.insert(key(model, horizon)).second) continue;
        try {
          JudgedCase offered(model, horizon, one.target());
          if (offered.size() >= 2 && 3 * offered.size() <= 2 * one.size())
            first.push_back(std::move(offered));
        } catch (const BadInput&) {
          continue;  // a row that it lacks
        }
      }
  }
  std::stable_sort(first.begin(), first.end(), [](const JudgedCase& a, const JudgedCase& b) {
    return std::pair(a.size(), a.horizon()) < std::pair(b.size(), b.horizon());
  });
  return first;
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
