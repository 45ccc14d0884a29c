#include "lab/claims/checks.hpp"

namespace tempera::lab {

Evidence::Evidence(std::string folder, std::vector<ShippedUse> models, Judged subject)
    : tree(std::move(folder)), uses(std::move(models)), judged(std::move(subject)) {}

const std::vector<ShippedLaw>& Evidence::laws() const {
  if (!laws_) laws_ = judged.shipped_laws(uses);
  return *laws_;
}

std::map<std::string, Check> all_checks() {
  std::map<std::string, Check> checks;
  for (auto&& part :
       {record_checks(),       kernel_checks(),     convergence_checks(), restart_checks(),
        bias_checks(),         round_trip_checks(), ladder_checks(),      four_state_checks(),
        compiled_checks(),     bitwise_checks(),    join_checks(),        method_checks(),
        theory_checks(),       drift_checks(),      design_checks(),      schedule_checks(),
        construction_checks(), table_checks(),      accuracy_checks(),    diagnostic_checks(),
        sampler_checks(),      text_checks(),       scope_checks(),       contest_checks()})
    checks.insert(part.begin(), part.end());
  return checks;
}

}  // namespace tempera::lab
