#include "lab/claims/checks.hpp"

#include "lab/claims/program_functions.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "lab/laws/shipped_models.hpp"

namespace tempera::lab {

CheckContext::CheckContext(std::string folder, std::vector<ShippedUse> models,
                           FunctionsUnderTest subject)
    : tree(std::move(folder)), uses(std::move(models)), functions(std::move(subject)) {}

const std::vector<ShippedLaw>& CheckContext::laws() const {
  if (!laws_) laws_ = functions.of<ProgramFunctions>().shipped_laws(uses);
  return *laws_;
}

std::map<std::string, Check> all_checks() {
  std::map<std::string, Check> checks;
  for (auto&& part : {notation_record_checks(),
                      exactness_invariance_checks(),
                      exactness_convergence_checks(),
                      implementation_restart_checks(),
                      bias_truncation_checks(),
                      communication_round_trip_checks(),
                      ladder_maximin_checks(),
                      illustration_four_state_checks(),
                      compiled_checks(),
                      ptx_checks(),
                      bitwise_checks(),
                      join_checks(),
                      methodology_checks(),
                      exactness_sweep_checks(),
                      bias_drift_checks(),
                      ladder_design_checks(),
                      communication_schedule_checks(),
                      implementation_checks(),
                      experiments_table_checks(),
                      experiments_accuracy_checks(),
                      experiments_metrics_checks(),
                      sampler_checks(),
                      experiments_text_checks(),
                      exactness_scope_checks(),
                      exactness_remarks_checks(),
                      experiments_controls_checks()})
    checks.insert(part.begin(), part.end());
  return checks;
}

}  // namespace tempera::lab
