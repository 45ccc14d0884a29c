#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/claims/claim.hpp"
#include "lab/claims/functions_under_test.hpp"
#include "lab/laws/shipped_laws.hpp"

namespace tempera::lab {

/// What a check found. It knows nothing of the verdict that claims.json records: it computes one,
/// and conclude() holds the two against each other.
struct CheckResult {
  /// What follows from the sides that were computed; nothing if nothing could be compared, or if
  /// what the check itself assumes does not hold.
  std::optional<Verdict> verdict;
  std::string detail;  ///< how much was checked, or the first instance that is not so

  /// Whether every instance that the claim speaks of is so, within its assumption if it has one.
  bool sound() const { return verdict && *verdict != Verdict::fails; }
};

/// What the checks work on: the tree with its files, the uses of shipped models, and what is judged
/// on them.
class CheckContext {
 public:
  CheckContext(std::string tree, std::vector<ShippedUse> uses, FunctionsUnderTest functions = {});
  /// shipped_laws of the uses: enumerated when a check first asks, and once.
  const std::vector<ShippedLaw>& laws() const;

  const std::string tree;
  const std::vector<ShippedUse> uses;
  const FunctionsUnderTest functions;

 private:
  mutable std::optional<std::vector<ShippedLaw>> laws_;
};

/// The check of one claim: it computes that claim, of evidence.judged on evidence.uses.
using Check = std::function<CheckResult(const CheckContext&)>;

/// All checks by name: those that claims.json may name, each in one claim.
std::map<std::string, Check> all_checks();

// The parts of it, by what they check.
std::map<std::string, Check> notation_record_checks();
std::map<std::string, Check> exactness_invariance_checks();
std::map<std::string, Check> exactness_convergence_checks();
std::map<std::string, Check> communication_round_trip_checks();
std::map<std::string, Check> implementation_restart_checks();
std::map<std::string, Check> bias_truncation_checks();
std::map<std::string, Check> ladder_maximin_checks();
std::map<std::string, Check> illustration_four_state_checks();
std::map<std::string, Check> compiled_checks();
std::map<std::string, Check> ptx_checks();
std::map<std::string, Check> sampler_checks();
std::map<std::string, Check> bitwise_checks();
std::map<std::string, Check> join_checks();
std::map<std::string, Check> methodology_checks();
std::map<std::string, Check> implementation_checks();
std::map<std::string, Check> exactness_sweep_checks();
std::map<std::string, Check> bias_drift_checks();
std::map<std::string, Check> ladder_design_checks();
std::map<std::string, Check> communication_schedule_checks();
std::map<std::string, Check> experiments_table_checks();
std::map<std::string, Check> experiments_accuracy_checks();
std::map<std::string, Check> experiments_metrics_checks();
std::map<std::string, Check> experiments_text_checks();
std::map<std::string, Check> exactness_scope_checks();
std::map<std::string, Check> exactness_remarks_checks();
std::map<std::string, Check> experiments_controls_checks();

/// Counts instances of a claim and keeps the first that is not so; the verdict follows from them.
class Count {
 public:
  /// What the check itself assumes, such as a case that is not degenerate. If it does not hold,
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
  /// The verdict if all that the claim speaks of was computed.
  CheckResult finding(const std::string& unit) const { return concluded(unit, Verdict::holds); }
  /// The verdict if the claim speaks of every model, or every ladder, and some of them were tried.
  CheckResult seen(const std::string& unit) const { return concluded(unit, Verdict::seen); }

 private:
  static void keep(bool holds, const std::string& what, std::string& first) {
    if (!holds && first.empty()) first = what;
  }
  CheckResult concluded(const std::string& unit, Verdict reached) const {
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
inline CheckResult of_cases_tried(CheckResult finding) {
  if (finding.verdict == Verdict::holds) finding.verdict = Verdict::seen;
  return finding;
}

}  // namespace tempera::lab
