#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::lab {

/// What a check found.
struct Verdict {
  bool holds = false;
  std::string detail;  ///< how much was checked, or the smallest counterexample
};

/// One use of a shipped finite model: an entry of toy_models/models.json.
struct ShippedUse {
  std::string name;
  reference::FiniteModel model;
  std::size_t horizon = 0;
  std::vector<unsigned> powers;
  std::vector<reference::Rational> restart;  ///< empty: uniform

  reference::FixedHorizonSpace space() const { return {model, horizon}; }
  reference::Ladder ladder() const;
  reference::RestartLaw restart_law() const;
};

/// @throw reference::BadInput naming file and remedy
std::vector<ShippedUse> read_shipped_uses(const std::string& tree);

/// What the checks work on.
struct Evidence {
  std::string tree;
  std::vector<ShippedUse> uses;
};

using Check = std::function<Verdict(const Evidence&)>;

/// All checks by name: those that claims.json may name.
std::map<std::string, Check> all_checks();

// The parts of it, by what they check.
std::map<std::string, Check> record_checks();
std::map<std::string, Check> kernel_checks();
std::map<std::string, Check> restart_checks();
std::map<std::string, Check> bias_checks();
std::map<std::string, Check> four_state_checks();
std::map<std::string, Check> compiled_checks();
std::map<std::string, Check> bitwise_checks();

/// Counts what holds and keeps the first thing that does not.
class Count {
 public:
  void expect(bool holds, const std::string& what) {
    ++checked_;
    if (!holds && first_failure_.empty()) first_failure_ = what;
  }
  Verdict verdict(const std::string& unit) const {
    if (!first_failure_.empty()) return {false, "fails: " + first_failure_};
    return {checked_ > 0, std::to_string(checked_) + " " + unit};
  }

 private:
  std::size_t checked_ = 0;
  std::string first_failure_;
};

}  // namespace tempera::lab
