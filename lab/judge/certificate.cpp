#include "lab/judge/certificate.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "lab/judge/shrink.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::lab {
namespace {

using nlohmann::ordered_json;
using reference::Law;
using reference::Matrix;
using reference::Rational;

ordered_json fractions(const std::vector<Rational>& values) {
  auto list = ordered_json::array();
  for (const Rational& value : values) list.push_back(reference::to_string(value));
  return list;
}

/// Over the states that the target gives mass.
bool is_irreducible(const Matrix& matrix, const Law& target) {
  std::size_t first = 0;
  while (target[first] == 0) ++first;
  for (const bool forwards : {true, false}) {
    std::vector<bool> met(target.size());
    std::vector<std::size_t> open{first};
    met[first] = true;
    while (!open.empty()) {
      const std::size_t x = open.back();
      open.pop_back();
      for (std::size_t y = 0; y < target.size(); ++y) {
        if (met[y] || (forwards ? matrix(x, y) : matrix(y, x)) == 0) continue;
        met[y] = true;
        open.push_back(y);
      }
    }
    for (std::size_t x = 0; x < target.size(); ++x)
      if (target[x] != 0 && !met[x]) return false;
  }
  return true;
}

void refuse_above(std::size_t states) {
  if (states > certified_limit)
    throw BadInput("the certificate",
                   "would hold " + std::to_string(states) + " states, more than " +
                       std::to_string(certified_limit),
                   "use a smaller horizon, model or ladder");
}

}  // namespace

std::string Certificate::json() const {
  ordered_json json{{"tempera_certificate", 1},
                    {"model", ordered_json::parse(model_json(model))},
                    {"horizon", horizon}};
  json["powers"] = ordered_json::array();
  for (const auto& power : powers) json["powers"].push_back(reference::to_string(power.value()));
  json["operator"] = op;
  json["restart"] = fractions(restart);
  json["states"] = states;
  json["target"] = fractions(target);
  auto& rows = json["matrix"] = ordered_json::array();
  Law after(target.size());
  bool is_reversible = true;
  for (std::size_t x = 0; x < target.size(); ++x) {
    std::vector<Rational> row;
    for (std::size_t y = 0; y < target.size(); ++y) {
      row.push_back(matrix(x, y));
      after[y] += target[x] * matrix(x, y);
      is_reversible = is_reversible && target[x] * matrix(x, y) == target[y] * matrix(y, x);
    }
    rows.push_back(fractions(row));
  }
  json["claims"] = {
      {"invariant", after == target},
      {"reversible", is_reversible},
      {"irreducible", is_irreducible(matrix, target)},
      {"tv_one_step", reference::to_string(reference::total_variation(after, target))}};
  return json.dump();
}

Certificate certify(const reference::FiniteModel& model, std::size_t horizon,
                    const reference::Ladder& ladder, const std::string& op,
                    const reference::RestartLaw& restart) {
  Certificate certificate{model, horizon, {}, op, {}, {}, {}, Matrix(0, 0)};
  for (std::size_t k = 0; k < ladder.rungs(); ++k) certificate.powers.push_back(ladder[k]);
  if (op == "truncating") {
    const reference::ComparisonSpace space(model, horizon);
    refuse_above(space.size());
    certificate.states = space.names();
    certificate.target = power_target(space, ladder[0]);
    certificate.matrix = truncating_kernel(space, ladder[0]);
    return certificate;
  }
  for (std::size_t r = 1; r <= horizon; ++r) certificate.restart.push_back(restart(r));
  const reference::FixedHorizonSpace space(model, horizon);
  std::size_t states = 1;
  for (std::size_t k = 0; k < ladder.rungs(); ++k) refuse_above(states *= space.size());
  const reference::ParallelTempering kernels(space, ladder, restart);
  certificate.states = joint_names(space, ladder.rungs());
  certificate.target = kernels.target();
  certificate.matrix = kernels.transition(1, op == "round" ? 1 : 0).matrix();
  return certificate;
}

}  // namespace tempera::lab
