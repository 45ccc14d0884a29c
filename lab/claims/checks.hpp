#pragma once

#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/claims/judged.hpp"

namespace tempera::lab {

/// What a check found.
struct Finding {
  bool confirms = false;  ///< the verdict that claims.json records
  std::string detail;     ///< how much was checked, or the smallest counterexample
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

/// Counts what holds and keeps the first thing that does not.
class Count {
 public:
  void expect(bool holds, const std::string& what) {
    ++checked_;
    if (!holds && first_failure_.empty()) first_failure_ = what;
  }
  bool sound() const { return first_failure_.empty(); }
  Finding finding(const std::string& unit) const {
    if (!first_failure_.empty()) return {false, "fails: " + first_failure_};
    return {checked_ > 0, std::to_string(checked_) + " " + unit};
  }

 private:
  std::size_t checked_ = 0;
  std::string first_failure_;
};

/// Counts body(count, tables) on the paper's tables.
template <class Body>
Finding on_tables(const Evidence& evidence, const std::string& unit, Body&& body) {
  if (!std::ifstream(evidence.tree + "/proofs/paper_tables.json"))
    return {false, "fails: there is no proofs/paper_tables.json"};
  Count count;
  body(count, evidence.judged.paper_tables(evidence.tree));
  return count.finding(unit);
}

}  // namespace tempera::lab
