#include "lab/laws/question_kernels.hpp"

#include "base/error.hpp"

namespace tempera::lab {
namespace {

gpu::RestartLaw law_of(const LawQuestion& question) {
  gpu::RestartLaw law = restart_tickets(question.restart, question.horizon);
  if (question.restart_range == gpu::RestartRange::record && law.total(1) == 0)
    throw BadInput("restart law", "position 1 has no weight, and a record of one token no other",
                   "give it a weight above 0");
  return law;
}

}  // namespace

QuestionKernels::QuestionKernels(const CompiledSpace& space, const gpu::Ladder& ladder,
                                 const LawQuestion& question)
    : range_(question.restart_range),
      paper_(space, ladder, law_of(question), question.rows()),
      record_(space, ladder, law_of(question), question.rows()) {}

Matrix QuestionKernels::local_move(gpu::Rung k) {
  return range_ == gpu::RestartRange::record ? record_.local_move(k) : paper_.local_move(k);
}

std::vector<Rational> QuestionKernels::local_row(gpu::Rung k, std::size_t s) {
  return range_ == gpu::RestartRange::record ? record_.local_row(k, s) : paper_.local_row(k, s);
}

}  // namespace tempera::lab
