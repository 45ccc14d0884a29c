#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/judge/shrink.hpp"

namespace tempera::lab {

/// How the law of a program's answers compares with another law over records.
struct LawComparison {
  reference::Rational tv;
  /// The shortest record, then the first in order, to which the two give other probabilities.
  struct Difference {
    std::vector<reference::Token> record;
    reference::Rational program, other;
  };
  std::optional<Difference> difference;  ///< nothing if they are equal, or within the rounding
  bool is_equal() const { return !difference; }
};

/// within: how far two probabilities may be apart and be called equal; 0 is exact. Mass of the
/// answers at lost_state may belong to any answer.
LawComparison compare_laws(const KernelRow& answers, const TargetLaw& other,
                           const reference::Rational& within);

/// The power target of a case as a law by record.
TargetLaw target_law(const JudgedCase& judged);

/// A case on which a program's answers have another law than they should.
struct DifferingCase {
  JudgedCase judged;
  KernelRow answers;
  LawComparison comparison;
  std::size_t tried = 0;
};

/// Smaller cases to look at before the asked ones, so that a program that is wrong is told so soon:
/// shorter horizons, and models with one token less. Each has at least two states, and at most two
/// thirds of those of the case that it is made from; those of fewest states come first.
std::vector<JudgedCase> first_cases(const std::vector<JudgedCase>& asked);

/// The law of a program's answers on a case, and the law that they are compared with.
using AnswerLaw = std::function<KernelRow(const JudgedCase&)>;
using OtherLaw = std::function<TargetLaw(const JudgedCase&)>;

/// Like shrink(): the smallest case found on which they differ still.
/// @throw Bug if they do not on the given case
DifferingCase shrink_difference(const AnswerLaw& program, const OtherLaw& other,
                                const JudgedCase& differing, const reference::Rational& within,
                                std::chrono::duration<double> time = std::chrono::seconds(60));

}  // namespace tempera::lab
