#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::cli {

/// What every form of `tempera exact` is asked.
struct ExactQuestion {
  std::size_t horizon = 0;
  std::optional<reference::RestartLaw> restart;  ///< uniform when absent
  std::optional<std::string> start;              ///< no curve when absent
  std::size_t steps = 10;
};

enum class Schedule { ordered, even_odd };

/// The exact answer in both its forms.
struct ExactReport {
  std::string title;                  ///< what was computed
  nlohmann::ordered_json json;        ///< the fields of --json (docs/exact.md)
  std::vector<std::string> findings;  ///< the smallest state that breaks each claim that fails
};

/// One rung on S_T. Throws BadInput.
ExactReport report_fixed_horizon(const reference::FiniteModel& model, const reference::Power& power,
                                 const ExactQuestion& asked);
/// The truncating kernel on the comparison space. Throws BadInput.
ExactReport report_truncating(const reference::FiniteModel& model, const reference::Power& power,
                              const ExactQuestion& asked);
/// The joint chain on S_T^K. Throws BadInput.
ExactReport report_joint(const reference::FiniteModel& model, const reference::Ladder& ladder,
                         Schedule schedule, const ExactQuestion& asked);

/// The report as tables for a terminal.
void print_tables(std::ostream& out, const ExactReport& report);

}  // namespace tempera::cli
