#include "tests/devices/figures.hpp"

#include <cstdio>

namespace tempera::gpu {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

void Figures::print(const nlohmann::ordered_json& figure, const std::string& line) {
  std::printf("  %s\n%s\n", line.c_str(), figure.dump().c_str());
  std::fflush(stdout);
  json_.push_back(figure);
}

void Figures::judge(const std::string& name, double measured, const std::string& unit,
                    const Goal& goal) {
  const char* side = goal.side == Goal::Side::at_least ? "at least" : "at most";
  const bool met = goal.is_met_by(measured);  // a NaN meets none
  const char* verdict = of_a_host_ ? "of a host" : met ? "met" : "MISSED";
  if (!of_a_host_) ++judged_;
  if (!of_a_host_ && !met) ++missed_;
  print({{"part", 6},
         {"figure", name},
         {"measured", measured},
         {"unit", unit},
         {"goal", std::string(side) + " " + number(goal.value)},
         {"verdict", verdict}},
        name + ": " + number(measured) + " " + unit + ", goal " + side + " " + number(goal.value) +
            ": " + verdict);
}

void Figures::note(const std::string& name, double measured, const std::string& unit) {
  print({{"part", 6}, {"figure", name}, {"measured", measured}, {"unit", unit}},
        name + ": " + number(measured) + " " + unit);
}

void Figures::row(const std::string& table, const nlohmann::ordered_json& places) {
  nlohmann::ordered_json line = {{"part", 6}, {"table", table}};
  line.update(places);
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  json_.push_back(line);
}

void Figures::not_measured(const std::string& name, const std::string& why) {
  ++left_out_;
  print({{"part", 6}, {"figure", name}, {"verdict", "not measured"}, {"why", why}},
        name + ": not measured: " + why);
}

}  // namespace tempera::gpu
