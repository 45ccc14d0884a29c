#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reference/report/carried_report.hpp"
#include "reference/report/exact_report.hpp"
#include "reference/report/mixing_report.hpp"
#include "reference/report/round_trip_report.hpp"

namespace tempera::cli {

/// What a report on one rung is about.
struct RungHeading {
  std::string model;
  std::size_t horizon;
  reference::Power power;
  std::string kernel;  ///< fixed or truncating
};

/// What a report on the joint chain is about.
struct JointHeading {
  std::string model;
  std::size_t horizon;
  reference::Ladder ladder;
  std::string schedule;  ///< adj or deo
};

/// The subject of a report on mixing.
struct MixingHeading {
  bool is_joint;
  reference::Rational within;  ///< ε of the mixing time, and of a cut's bound on it
};

/// Whether the transition matrix is printed; `--no-matrix` leaves it out.
enum class PrintedMatrix { yes, no };

/// The object that --json prints (docs/reference/exact.md).
nlohmann::ordered_json exact_json(const RungHeading& heading, const reference::RungReport& report,
                                  PrintedMatrix matrix);
nlohmann::ordered_json exact_json(const reference::JointReport& report);
nlohmann::ordered_json exact_json(const RungHeading& heading,
                                  const reference::CarriedReport& report);
nlohmann::ordered_json exact_json(const reference::CarriedReport& report);
nlohmann::ordered_json exact_json(const reference::RoundTripReport& report);
nlohmann::ordered_json exact_json(const MixingHeading& heading,
                                  const reference::MixingReport& report);

/// Tables for a terminal.
void print_exact(std::ostream& out, const RungHeading& heading, const reference::RungReport& report,
                 PrintedMatrix matrix);
void print_exact(std::ostream& out, const JointHeading& heading,
                 const reference::JointReport& report);
void print_exact(std::ostream& out, const RungHeading& heading,
                 const reference::CarriedReport& report);
void print_exact(std::ostream& out, const JointHeading& heading,
                 const reference::CarriedReport& report);
void print_exact(std::ostream& out, const reference::RoundTripReport& report);
void print_exact(std::ostream& out, const MixingHeading& heading,
                 const reference::MixingReport& report);

}  // namespace tempera::cli
