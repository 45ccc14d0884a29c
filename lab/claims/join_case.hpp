#pragma once

#include <string>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// A finite model, ladder and schedule on which the definitions proved in proofs/ are compared with
/// reference/. The cases are in proofs/join.json, and for Coq in proofs/cases/join_cases.v.
struct JoinCase {
  std::string name;
  reference::FiniteModel model;
  std::size_t horizon;
  reference::Ladder ladder;
  reference::RestartLaw restart;
  std::size_t n_local, n_sweep;  ///< of the complete transition
  std::size_t block;
  std::vector<reference::StageSchedule> stages;  ///< of the progressive law, one per stage
};

/// @throw BadInput naming the file for what is missing or malformed
std::vector<JoinCase> read_join_cases(const std::string& file);

struct NamedMatrix {
  std::string name;
  reference::Matrix matrix;
};

/// All that is compared, by reference/, in the order of proofs/matrices.txt: L_k and the truncating
/// kernel of every rung, each swap, the ordered sweep, both parity layers, P, the progressive law.
std::vector<NamedMatrix> reference_matrices(const JoinCase& join);

}  // namespace tempera::lab
