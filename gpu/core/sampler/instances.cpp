// The kernels of the sampler that are templates, compiled once and here: what is enumerated is what
// is shipped. tests/cli/one_instance.cpp reads this list and looks for second copies.
#include "gpu/core/sampler/best_of_n.hpp"
#include "gpu/core/sampler/local_move.hpp"
#include "gpu/core/sampler/refine.hpp"
#include "gpu/core/sampler/swap.hpp"
#include "gpu/core/sampler/uncoupled_ladder.hpp"

namespace tempera::gpu {

template Task local_move<PaperRules>(Record& x, Turn turn, const RestartLaw& law);
template Task local_move<RecordRestartRules>(Record& x, Turn turn, const RestartLaw& law);

template Task refine<PaperRules>(Record& x, Chain& chain, Rung k, MoveNumbers numbers,
                                 const RestartLaw& law, MovesAhead& begun);
template Task refine<RecordRestartRules>(Record& x, Chain& chain, Rung k, MoveNumbers numbers,
                                         const RestartLaw& law, MovesAhead& begun);

template void attempt_swap<PaperRules>(std::vector<Record>& replicas, Turn turn);

template Task best_of_n<LikelihoodRules>(Chain& chain, const Plan& plan, Progress& progress,
                                         Observer* observer);

template Task uncoupled_ladder<ColdestRung>(Chain& chain, const Plan& plan, Progress& progress,
                                            Observer* observer);
template Task uncoupled_ladder<LikeliestRung>(Chain& chain, const Plan& plan, Progress& progress,
                                              Observer* observer);

}  // namespace tempera::gpu
