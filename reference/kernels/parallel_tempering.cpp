#include "reference/kernels/parallel_tempering.hpp"

#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_restart_kernel.hpp"
#include "reference/kernels/swap.hpp"

namespace tempera::reference {

ParallelTempering::ParallelTempering(const FixedHorizonSpace& space, const Ladder& ladder,
                                     const RestartLaw& restart, RestartRange range)
    : shape_(ladder.rungs(), space.size()), local_sweep_(shape_) {
  joint_size(shape_, joint_law_limit);
  for (std::size_t k = 0; k < ladder.rungs(); ++k) {
    targets_.push_back(power_target(space, ladder[k]));
    local_kernels_.push_back(tempera::reference::local_kernel(space, ladder[k], restart, range));
  }
  local_sweep_.then_move(local_kernels_);
  for (std::size_t k = 0; k + 1 < ladder.rungs(); ++k) {
    swaps_.emplace_back(shape_).then_swap(k, swap_acceptance(targets_[k], targets_[k + 1]));
  }
}

FactoredKernel ParallelTempering::ordered_sweep() const {
  FactoredKernel sweep(shape_);
  for (std::size_t k = 1; k < shape_.size(); ++k) sweep.then(swap(k));
  return sweep;
}

FactoredKernel ParallelTempering::layer(std::size_t first_edge) const {
  FactoredKernel exchanges(shape_);
  for (std::size_t k = first_edge; k < shape_.size(); k += 2) exchanges.then(swap(k));
  return exchanges;
}

FactoredKernel ParallelTempering::sweep(Schedule schedule, std::size_t number) const {
  if (schedule == Schedule::adj) return ordered_sweep();
  return number % 2 == 0 ? odd_layer() : even_layer();
}

FactoredKernel ParallelTempering::transition(std::size_t n_local, std::size_t n_sweep) const {
  FactoredKernel round = repeated(local_sweep(), n_local);
  round.then(repeated(ordered_sweep(), n_sweep));
  return round;
}

FactoredKernel ParallelTempering::deo_transition() const {
  FactoredKernel steps = local_sweep();
  steps.then(odd_layer());
  steps.then(local_sweep());
  steps.then(even_layer());
  return steps;
}

}  // namespace tempera::reference
