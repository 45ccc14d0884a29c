#include "gpu/session/saved_progress.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/sampler/score_record.hpp"
#include "gpu/session/model_changed.hpp"

namespace tempera::gpu {
namespace {

/// A saved record at the horizon of the saved stage, scored again.
Record rescored(const SavedProgress& saved, std::size_t replica, std::size_t horizon,
                const Chain& run, RowLottery& rows) {
  std::optional<Record> record;
  try {
    record = score_record(run.engine.model(), rows, run.ladder, run.context, horizon,
                          saved.replicas[replica], run.options.confidence,
                          run.prompt_cache->fork(run.prompt_cache->length()));
  } catch (const ImpossibleToken&) {
    // A token that the model now forbids, or that its record has no room for.
  }
  if (!record || to_bits(record->log_p0()) != saved.log_p0.at(replica))
    throw ModelChanged(saved.where, "the model no longer gives the probabilities of the checkpoint",
                       "resume with the model and the program that the run began with");
  return std::move(*record);
}

}  // namespace

SavedProgress saved(const Progress& progress, std::string where) {
  SavedProgress kept;
  static_cast<Position&>(kept) = progress;
  for (const Record& record : progress.replicas) {
    kept.replicas.push_back(record.token_ids());
    kept.log_p0.push_back(to_bits(record.log_p0()));
  }
  kept.where = std::move(where);
  return kept;
}

void restore(const SavedProgress& saved, const Plan& plan, const Chain& run, RowLottery& rows,
             Progress& progress) {
  progress = Progress{position_of(saved)};
  for (std::size_t k = 0; k < saved.replicas.size(); ++k)
    progress.replicas.push_back(rescored(saved, k, plan.stages.at(saved.stage).horizon, run, rows));
}

}  // namespace tempera::gpu
