#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

using reference::Rational;

/// A state of a kernel that is judged: one record, as its generated tokens, for each rung.
using JudgedState = std::vector<std::vector<reference::Token>>;

/// The most states on which a kernel is judged.
inline constexpr std::size_t judged_limit = 1024;

/// A law over the records: those not named have probability 0.
using TargetLaw = std::map<std::vector<reference::Token>, reference::Rational>;

/// The law that a kernel is claimed to preserve: a power target for each rung, or a law of its own
/// over the records.
struct JudgedTarget {
  std::vector<reference::Power> powers;  ///< one or more, in any order
  /// Replaces the powers' target, by record; those not named have probability 0. One rung.
  std::optional<TargetLaw> law;
};

/// A model, a horizon and a target: what a kernel is judged on. The states are S_T^K.
class JudgedCase {
 public:
  /// @throw BadInput if there are more than judged_limit states, a power is irrational,
  /// or a law of its own names a record outside S_T, is negative or does not sum to 1
  JudgedCase(const reference::FiniteModel& model, std::size_t horizon, JudgedTarget target);

  const reference::FiniteModel& model() const { return space_.model(); }
  std::size_t horizon() const { return space_.horizon(); }
  const JudgedTarget& target() const { return target_; }
  std::size_t rungs() const { return target_.powers.empty() ? 1 : target_.powers.size(); }

  /// |S_T|^K; the first rung is the most significant.
  std::size_t size() const { return law_.size(); }
  JudgedState state(std::size_t index) const;
  /// Nothing for what is no state.
  std::optional<std::size_t> find(const JudgedState& state) const;
  /// Π over the states.
  const reference::Law& law() const { return law_; }
  /// Tokens joined by one space, records joined by '|'; any tokens, states or not.
  std::string name(const JudgedState& state) const;
  /// Generated tokens of all its records.
  std::size_t tokens(std::size_t index) const;

 private:
  reference::FixedHorizonSpace space_;
  JudgedTarget target_;
  reference::Law law_;
};

/// Where the mass of a path goes that raises an error or draws without end: no state, of no record.
inline const JudgedState lost_state{};

/// One row of a kernel's matrix: where it goes from one state. What is no state may be among it,
/// and lost_state.
using KernelRow = std::map<JudgedState, reference::Rational>;

/// A kernel to be judged, by its rows on any case.
/// @throw BadInput if it misbehaves
using JudgedKernel = std::function<KernelRow(const JudgedCase&, const JudgedState&)>;

}  // namespace tempera::lab
