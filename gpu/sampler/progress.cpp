#include "gpu/sampler/progress.hpp"

#include <algorithm>
#include <tuple>

#include "gpu/sampler/extend.hpp"

namespace tempera::gpu {

const Record& answer_of(const Progress& progress, const Plan& plan) {
  return progress.replicas.at(progress.answer.value_or(plan.output));
}

Task extend_all(Run& run, Progress& progress, std::size_t horizon) {
  std::vector<Task> extensions;
  for (std::size_t k = 0; k < progress.replicas.size(); ++k)
    extensions.push_back(extend(progress.replicas[k],
                                Turn(run, k, progress.stage, Purpose::extension_token), horizon));
  co_await all(std::move(extensions));
}

Task begin_stage(Run& run, Progress& progress, std::size_t horizon, Observer* observer) {
  if (progress.extended) co_return;
  co_await extend_all(run, progress, horizon);
  progress.extended = true;
  report(run, progress, observer);
}

void end_stage(Progress& progress) {
  ++progress.stage;
  progress.extended = false;
  progress.round = 0;
}

void report(Run& run, const Progress& progress, Observer* observer) {
  std::sort(run.events.begin(), run.events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.kind, a.turn, a.rung) < std::tie(b.kind, b.turn, b.rung);
  });
  if (observer != nullptr) observer->advanced(progress, run.events);
  run.events.clear();
}

}  // namespace tempera::gpu
