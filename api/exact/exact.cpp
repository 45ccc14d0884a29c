#include "tempera/exact.hpp"

#include "api/exact/fraction.hpp"
#include "api/exact/model_parts.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "lab/enumerate/compiled_kernel.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "lab/judge/shrink.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::exact {

FiniteModel FiniteModel::open(const std::string& file) {
  return finite_model(reference::load_finite_model(file));
}
FiniteModel FiniteModel::parse(const std::string& json, const std::string& name) {
  return finite_model(reference::parse_finite_model(json, name));
}
std::string FiniteModel::json() const { return lab::model_json(parts_->model); }
std::vector<FiniteModel> FiniteModel::smaller() const {
  std::vector<FiniteModel> list;
  for (auto& model : lab::smaller_models(parts_->model))
    list.push_back(finite_model(std::move(model)));
  return list;
}
const std::string& FiniteModel::name() const { return parts_->model.name(); }
const std::vector<std::string>& FiniteModel::vocabulary() const {
  return parts_->model.vocabulary();
}

std::vector<bool> FiniteModel::terminal() const {
  std::vector<bool> list;
  for (std::size_t v = 0; v < parts_->model.vocabulary_size(); ++v)
    list.push_back(parts_->model.is_terminal(static_cast<reference::Token>(v)));
  return list;
}

std::vector<Fraction> FiniteModel::next(const std::vector<std::size_t>& prefix) const {
  std::vector<reference::Token> tokens;
  for (const std::size_t token : prefix) {
    if (token >= parts_->model.vocabulary_size())
      throw BadInput("prefix", std::to_string(token) + " is outside the vocabulary",
                     "use numbers below " + std::to_string(parts_->model.vocabulary_size()));
    tokens.push_back(static_cast<reference::Token>(token));
  }
  return fractions(parts_->model.token_row(tokens));
}

std::vector<std::string> FiniteModel::records(std::size_t horizon) const {
  return reference::FixedHorizonSpace(parts_->model, horizon).names();
}
std::vector<Fraction> FiniteModel::base_law(std::size_t horizon) const {
  return fractions(reference::base_law(reference::FixedHorizonSpace(parts_->model, horizon)));
}
std::vector<Fraction> FiniteModel::power_law(std::size_t horizon, const Fraction& power) const {
  return fractions(reference::power_target(reference::FixedHorizonSpace(parts_->model, horizon),
                                           reference::Power(rational(power))));
}

Fraction total_variation(const std::vector<Fraction>& p, const std::vector<Fraction>& q) {
  reference::Law mu;
  reference::Law nu;
  for (const Fraction& each : p) mu.push_back(rational(each));
  for (const Fraction& each : q) nu.push_back(rational(each));
  return fraction(reference::total_variation(mu, nu));
}

std::vector<std::vector<Fraction>> compiled_local_move(const FiniteModel& model,
                                                       std::size_t horizon, double power) {
  const lab::FiniteLogits logits(model.parts().model);
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  lab::CompiledKernel<> kernel(space, gpu::Ladder({power}), gpu::RestartLaw::uniform(horizon));
  const auto matrix = kernel.local_move(0);
  std::vector<std::vector<Fraction>> rows;
  for (std::size_t x = 0; x < matrix.rows(); ++x) {
    rows.emplace_back();
    for (std::size_t y = 0; y < matrix.columns(); ++y)
      rows.back().push_back(fraction(matrix(x, y)));
  }
  return rows;
}

}  // namespace tempera::exact
