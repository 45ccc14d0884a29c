#include "gpu/core/sampler/progress.hpp"

#include <algorithm>
#include <tuple>

#include "gpu/core/sampler/extend.hpp"

namespace tempera::gpu {

const Record& answer_of(const Progress& progress, const Plan& plan) {
  return progress.replicas.at(progress.answer.value_or(plan.output));
}

Task extend_all(Chain& chain, Progress& progress, std::size_t horizon) {
  std::vector<Task> extensions;
  for (std::size_t k = 0; k < progress.replicas.size(); ++k)
    extensions.push_back(extend(progress.replicas[k],
                                Turn(chain, k, progress.stage, Purpose::extension_token), horizon));
  co_await all(std::move(extensions));
}

Task begin_stage(Chain& chain, Progress& progress, std::size_t horizon, Observer* observer) {
  if (progress.extended) co_return;
  co_await extend_all(chain, progress, horizon);
  progress.extended = true;
  report(chain, progress, observer);
  co_await chain.engine.pause(progress.replicas.size());
}

void end_stage(Progress& progress) {
  ++progress.stage;
  progress.extended = false;
  progress.round = 0;
}

void report(Chain& chain, const Progress& progress, Observer* observer) {
  std::sort(chain.events.begin(), chain.events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.kind, a.turn, a.rung) < std::tie(b.kind, b.turn, b.rung);
  });
  if (observer != nullptr) observer->round_ended(progress, chain.events);
  chain.events.clear();
}

}  // namespace tempera::gpu
