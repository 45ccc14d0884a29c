// `tempera exact --json`.
#include <nlohmann/json.hpp>

#include "cli/commands/exact_output.hpp"

namespace tempera::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace reference;

Json fractions(const std::vector<Rational>& values) {
  Json list = Json::array();
  for (const Rational& value : values) list.push_back(to_string(value));
  return list;
}

Json fractions(const Matrix& matrix) {
  Json rows = Json::array();
  for (std::size_t x = 0; x < matrix.rows(); ++x) {
    Json row = Json::array();
    for (std::size_t y = 0; y < matrix.columns(); ++y) row.push_back(to_string(matrix(x, y)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json decided(const std::optional<bool>& verdict) {
  return verdict ? Json(*verdict) : Json(nullptr);
}

}  // namespace

Json exact_json(const RungHeading& heading, const RungReport& report, PrintedMatrix matrix) {
  Json json{{"model", heading.model},
            {"horizon", heading.horizon},
            {"power", to_string(heading.power.value())},
            {"kernel", heading.kernel},
            {"states", report.states},
            {"base", fractions(report.base)},
            {"target", fractions(report.target)},
            {"matrix", nullptr},
            {"invariant", report.verdict.invariant()},
            {"detailed_balance", report.verdict.reversible()},
            {"irreducible", report.verdict.irreducible},
            {"tv", fractions(report.total_variation)}};
  if (matrix == PrintedMatrix::yes)
    json["matrix"] = fractions(report.kernel);
  else
    json.erase("matrix");
  return json;
}

Json exact_json(const JointReport& report) {
  return {{"states", report.records},
          {"invariant", report.verdict.invariant()},
          {"reversible", report.verdict.reversible()},
          {"irreducible", report.verdict.irreducible},
          {"swap_acceptance", fractions(report.swap_acceptance)},
          {"tv", fractions(report.total_variation)}};
}

Json exact_json(const RungHeading& heading, const CarriedReport& report) {
  Json json{{"model", heading.model},
            {"horizon", heading.horizon},
            {"power", to_string(heading.power.value())},
            {"kernel", heading.kernel},
            {"size", report.size}};
  if (!report.states.empty()) {
    json["states"] = report.states;
    json["base"] = fractions(report.base);
    json["target"] = fractions(report.target);
  }
  json["invariant"] = report.invariant;
  json["detailed_balance"] = decided(report.reversible);
  json["irreducible"] = report.irreducible;
  json["tv"] = fractions(report.total_variation);
  return json;
}

Json exact_json(const CarriedReport& report) {
  Json json{{"size", report.size}};
  if (!report.states.empty()) json["states"] = report.states;
  json["invariant"] = report.invariant;
  json["reversible"] = decided(report.reversible);
  json["irreducible"] = report.irreducible;
  json["swap_acceptance"] = fractions(report.swap_acceptance);
  json["tv"] = fractions(report.total_variation);
  return json;
}

Json exact_json(const reference::RoundTripReport& report) {
  return {{"expected", fractions(report.expected)}, {"formula", to_string(report.formula)}};
}

Json exact_json(const MixingHeading& heading, const reference::MixingReport& report) {
  Json json = Json::object();
  if (report.second) {
    const reference::Bracket& second = *report.second;
    json["gap"] = {to_string(Rational(1 - second.upper)), to_string(Rational(1 - second.lower))};
    json["relaxation"] = nullptr;
    if (second.upper < 1)
      json["relaxation"] = {to_string(Rational(1 / (1 - second.lower))),
                            to_string(Rational(1 / (1 - second.upper)))};
  }
  if (report.time) {
    const auto ends = [](const reference::Bracket& bracket) {
      return Json{to_string(bracket.lower), to_string(bracket.upper)};
    };
    json["mixing"] = {{"within", to_string(heading.within)},
                      {"steps", report.time->steps},
                      {"worst_start", report.worst_start},
                      {"before", ends(report.time->before)},
                      {"after", ends(report.time->after)}};
  }
  const auto cut_json = [&](const reference::NamedCut& named, const char* members) {
    const reference::Cut& cut = named.cut;
    Json said{{members, named.classes},
              {"mass", to_string(cut.mass)},
              {"flow", to_string(cut.flow)},
              {"conductance", to_string(cut.conductance())}};
    if (!heading.is_joint) said["gap_at_most"] = to_string(cut.gap_at_most());
    said["within"] = to_string(heading.within);
    said["steps_at_least"] = nullptr;
    if (const auto steps = cut.steps_at_least(heading.within))
      said["steps_at_least"] = to_string(*steps);
    return said;
  };
  if (report.first_token_cut) json["cut"] = cut_json(*report.first_token_cut, "first_tokens");
  if (report.any_cut) {
    json["any_cut"] = cut_json(*report.any_cut, "states");
    if (!heading.is_joint)
      json["any_cut"]["gap_at_least"] = to_string(report.any_cut->cut.gap_at_least());
  }
  return json;
}

}  // namespace tempera::cli
