#include "gpu/sampler/local_move.hpp"

namespace tempera::gpu {

template Task local_move<PaperRules>(Record& x, Turn turn, const RestartLaw& law);
template Task local_move<RecordRestartRules>(Record& x, Turn turn, const RestartLaw& law);

}  // namespace tempera::gpu
