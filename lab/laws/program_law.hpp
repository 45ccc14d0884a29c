#pragma once

#include <cstddef>
#include <vector>

#include "gpu/core/sampler/stages.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/enumerate/real.hpp"
#include "lab/laws/law_question.hpp"
#include "reference/kernels/progressive.hpp"

namespace tempera::lab {

/// A whole run of one prompt: what Algorithm 1, or the truncating sampler, is asked to do.
struct ProgramQuestion {
  std::size_t horizon = 0;                       ///< T
  std::size_t block = 0;                         ///< B
  std::vector<unsigned> powers;                  ///< of the rungs
  std::vector<reference::StageSchedule> stages;  ///< one for each stage, or one for all
  gpu::Schedule schedule = gpu::Schedule::adj;
  gpu::Rung output = 0;                             ///< k*, from 0
  std::vector<std::uint64_t> restart_weights = {};  ///< none: uniform
  gpu::RestartRange restart_range = gpu::RestartRange::horizon;
  MakeRows rows = gpu::make_device_row_lottery;

  gpu::Plan plan() const;
};

/// The exact law of what a whole run of parallel_power_tempering leaves: the records of all rungs
/// and its answer.
/// @throw as tempering_program
OutcomeLaw outcomes_of_tempering(const reference::FiniteModel& model,
                                 const ProgramQuestion& question);

/// The bound on tv_own, 4e-10. A step of Algorithm 1 (an extension, a local move or a swap of one
/// rung) errs by less than 1e-12 if records are distributed as their targets: the sum at
/// flow_bound (lab/defects/gallery.hpp) with |V| <= 4 and T <= 3. In a program from empty
/// records they are not, but a joint state is at most C times as likely as its target says: C is
/// the product, over stages and rungs, of the largest ratio between the target of the stage before,
/// extended by g_k, and the stage's own; kernels that leave the target keep it. C is below 10 for
/// every model and ladder that is walked (at most 8, nearly_deterministic at power 4), and a
/// program has at most 40 steps.
extern const Real program_bound;

/// The exact law of what a whole run of the compiled program leaves, compared with reference/.
struct ProgramReport {
  std::size_t outcomes = 0;  ///< that the program can end in
  std::size_t states = 0;    ///< in which it draws
  std::size_t runs = 0;
  /// TV of the records of all rungs from the reference's progressive law on the model that the
  /// float32 logits define: the program's own error.
  Real tv_own;
  Real tv_answer;     ///< the same of the answer alone
  Real tv_to_target;  ///< as tv_own on the rational model: rounding to float32 logits included
  std::size_t stale_records = 0;  ///< must be 0
};

/// parallel_power_tempering from empty records to the record at rung k*.
/// @throw BadInput for a space that reference/ refuses
/// @throw BadInput for a plan or ladder that make no run
ProgramReport tempering_program(const reference::FiniteModel& model,
                                const ProgramQuestion& question, Cuts cuts = Cuts::at_every_round);

/// truncating_power_sampling at the first power, compared with the law that the paper's words give
/// it, its bias included.
/// @throw as tempering_program
ProgramReport truncating_program(const reference::FiniteModel& model,
                                 const ProgramQuestion& question, Cuts cuts = Cuts::at_every_round);

}  // namespace tempera::lab
