#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/contest/exact_comparison.hpp"

namespace tempera::lab {

/// One of the paper's ablations on a finite model: what is varied, all else the same.
struct Ablation {
  std::string name;   ///< "single chain", "replicas"
  std::string label;  ///< of the paper's table, figure or section
  std::vector<ExactRow> rows;
};

/// The paper's ablations, each by exact laws, around PPT with the settings' ladder and schedule:
/// a single chain and an uncoupled ladder (with Best-of-N) at its expected decode tokens; ordered
/// against even–odd sweeps; K = 1, 2, … rungs over the same range; 1, 2, 4 and 8 times its rounds;
/// ladders of three rungs over the range; truncation against the fixed horizon at the same rounds.
/// For K rungs the ladder of whole powers is taken whose weakest swap is accepted most, as many
/// rungs, at most 5, as have 4,096 joint states; the rungs of ladders are whole powers, the random
/// ladder's row the mean over all of them. `done` is told how many of the seven are done.
/// @throw BadInput as compare_exactly, and if the ladder does not begin and end with
/// whole powers
std::vector<Ablation> ablations(const reference::FiniteModel& model,
                                const ExactComparisonSettings& settings,
                                const std::function<void(std::size_t)>& done = {});

}  // namespace tempera::lab
