#pragma once

#include "lab/enumerate/compiled_kernel.hpp"
#include "lab/laws/law_question.hpp"

namespace tempera::lab {

/// The kernels of the program that a question is about, enumerated: as CompiledKernel, with the
/// local move of the question's restart range.
class QuestionKernels {
 public:
  /// @throw BadInput for a restart law of the wrong length, and over the record's own
  /// positions for one without ω(1)
  QuestionKernels(const CompiledSpace& space, const gpu::Ladder& ladder,
                  const LawQuestion& question);

  Matrix local_move(gpu::Rung k);
  std::vector<Rational> local_row(gpu::Rung k, std::size_t s);
  /// One for all ranges: a swap draws no restart.
  Matrix swap(gpu::Rung k) { return paper_.swap(k); }
  std::size_t stale_records() const { return paper_.stale().size() + record_.stale().size(); }

 private:
  gpu::RestartRange range_;
  CompiledKernel<> paper_;
  CompiledKernel<gpu::RecordRestartRules> record_;
};

}  // namespace tempera::lab
