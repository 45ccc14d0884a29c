#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tempera::gpu {

/// What a figure of part 6 must be, in the figure's own unit.
struct Goal {
  enum class Side { at_least, at_most } side = Side::at_least;
  double value = 0.0;

  bool is_met_by(double measured) const {
    return side == Side::at_least ? measured >= value : measured <= value;
  }
};

/// The figures of part 6. Each is printed when it is there, as a line for people and as a line of
/// JSON, so that a part that is cut off leaves what it has measured.
class Figures {
 public:
  /// of_a_host: whether they are a host's, which no goal is meant for and nothing judges.
  explicit Figures(bool of_a_host) : of_a_host_(of_a_host) {}

  /// A figure that has a goal.
  void judge(const std::string& name, double measured, const std::string& unit, const Goal& goal);
  /// One that others are fractions of, or that is beside them.
  void note(const std::string& name, double measured, const std::string& unit);
  /// A row of a table: what was measured at these places, as one line of JSON.
  void row(const std::string& table, const nlohmann::ordered_json& places);
  /// One that this build or this device cannot measure.
  void not_measured(const std::string& name, const std::string& why);

  std::size_t judged() const { return judged_; }
  std::size_t missed() const { return missed_; }
  std::size_t left_out() const { return left_out_; }
  /// All of them, in order.
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  void print(const nlohmann::ordered_json& figure, const std::string& line);

  bool of_a_host_;
  std::size_t judged_ = 0;
  std::size_t missed_ = 0;
  std::size_t left_out_ = 0;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

}  // namespace tempera::gpu
