#include "api/exact/embedded_models.hpp"
#include "api/exact/model_parts.hpp"
#include "base/error.hpp"
#include "lab/judge/default_cases.hpp"
#include "tempera/check.hpp"

namespace tempera::check {

std::vector<Case> default_models(const std::vector<exact::Fraction>& powers) {
  if (powers.empty())
    throw BadInput("default_models", "is given no powers", "give one for each record of a state");
  std::vector<Case> cases;
  const std::string list = "toy_models/check/models.json";
  for (const lab::DefaultCase& one :
       lab::default_cases_of(exact::embedded_models().at(list), list, powers.size()))
    cases.push_back({exact::FiniteModel::parse(exact::embedded_models().at(one.file), one.file),
                     one.horizon, powers});
  return cases;
}

}  // namespace tempera::check
