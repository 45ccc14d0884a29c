#pragma once

#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/claims/claim.hpp"
#include "lab/claims/judged.hpp"

namespace tempera::lab {

/// What a check found. It knows nothing of the verdict that claims.json records: it computes one,
/// and conclude() holds the two against each other.
struct Finding {
  /// What follows from the sides that were computed; nothing if nothing could be compared, or if
  /// what the check itself stands on does not hold.
  std::optional<Verdict> verdict;
  std::string detail;  ///< how much was checked, or the first instance that is not so

  /// Whether every instance that the claim speaks of is so, within its assumption if it has one.
  bool sound() const { return verdict && *verdict != Verdict::fails; }
};

/// What the checks work on: the tree with its files, the uses of shipped models, and what is judged
/// on them.
class Evidence {
 public:
  Evidence(std::string tree, std::vector<ShippedUse> uses, Judged judged = {});
  /// shipped_laws of the uses: enumerated when a check first asks, and once.
  const std::vector<ShippedLaw>& laws() const;

  const std::string tree;
  const std::vector<ShippedUse> uses;
  const Judged judged;

 private:
  mutable std::optional<std::vector<ShippedLaw>> laws_;
};

/// The check of one claim: it computes that claim, of evidence.judged on evidence.uses.
using Check = std::function<Finding(const Evidence&)>;

/// All checks by name: those that claims.json may name, each in one claim.
std::map<std::string, Check> all_checks();

// The parts of it, by what they check.
std::map<std::string, Check> record_checks();
std::map<std::string, Check> kernel_checks();
std::map<std::string, Check> convergence_checks();
std::map<std::string, Check> round_trip_checks();
std::map<std::string, Check> restart_checks();
std::map<std::string, Check> bias_checks();
std::map<std::string, Check> ladder_checks();
std::map<std::string, Check> four_state_checks();
std::map<std::string, Check> compiled_checks();
std::map<std::string, Check> sampler_checks();
std::map<std::string, Check> bitwise_checks();
std::map<std::string, Check> join_checks();
std::map<std::string, Check> method_checks();
std::map<std::string, Check> construction_checks();
std::map<std::string, Check> theory_checks();
std::map<std::string, Check> drift_checks();
std::map<std::string, Check> design_checks();
std::map<std::string, Check> schedule_checks();
std::map<std::string, Check> table_checks();
std::map<std::string, Check> accuracy_checks();
std::map<std::string, Check> diagnostic_checks();
std::map<std::string, Check> text_checks();
std::map<std::string, Check> scope_checks();
std::map<std::string, Check> contest_checks();

/// Counts instances of a claim and keeps the first that is not so; the verdict follows from them.
class Count {
 public:
  /// What the check itself stands on, such as a case that is not degenerate. If it does not hold,
  /// nothing is decided.
  void require(bool holds, const std::string& what) { keep(holds, what, first_unfounded_); }
  /// One instance of the claim: of what it says within its assumption, if it has one.
  void expect(bool holds, const std::string& what) {
    ++checked_;
    keep(holds, what, first_failure_);
  }
  /// One instance of the claim as it is printed, outside the assumption: one that is not so makes
  /// the verdict `holds if`.
  void expect_without(bool holds, const std::string& what) { keep(holds, what, first_without_); }
  bool sound() const { return first_failure_.empty() && first_unfounded_.empty(); }
  /// Where all that the claim speaks of was computed.
  Finding finding(const std::string& unit) const { return concluded(unit, Verdict::holds); }
  /// Where the claim speaks of every model, or every ladder, and some of them were tried.
  Finding seen(const std::string& unit) const { return concluded(unit, Verdict::seen); }

 private:
  static void keep(bool holds, const std::string& what, std::string& first) {
    if (!holds && first.empty()) first = what;
  }
  Finding concluded(const std::string& unit, Verdict reached) const {
    if (!first_unfounded_.empty()) return {std::nullopt, "decides nothing: " + first_unfounded_};
    if (!first_failure_.empty()) return {Verdict::fails, "fails: " + first_failure_};
    const std::string checked = std::to_string(checked_) + " " + unit;
    if (checked_ == 0) return {std::nullopt, "decides nothing: " + checked};
    if (!first_without_.empty())
      return {Verdict::holds_if, checked + "; without the assumption not: " + first_without_};
    return {reached, checked};
  }

  std::size_t checked_ = 0;
  std::string first_unfounded_, first_failure_, first_without_;
};

/// The same finding of a statement of more cases than were tried.
inline Finding of_cases_tried(Finding finding) {
  if (finding.verdict == Verdict::holds) finding.verdict = Verdict::seen;
  return finding;
}

/// Counts body(count, tables) on the paper's tables.
template <class Body>
Finding on_tables(const Evidence& evidence, const std::string& unit, Body&& body) {
  if (!std::ifstream(evidence.tree + "/proofs/paper_tables.json"))
    return {std::nullopt, "decides nothing: there is no proofs/paper_tables.json"};
  Count count;
  body(count, evidence.judged.paper_tables(evidence.tree));
  return count.finding(unit);
}

}  // namespace tempera::lab
