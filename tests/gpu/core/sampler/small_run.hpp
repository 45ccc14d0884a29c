// The run of one prompt on a small model, for the tests of the samplers and the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/core/sampler/extend.hpp"
#include "gpu/core/sampler/local_move.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/sampler/refine.hpp"
#include "gpu/core/sampler/score_record.hpp"
#include "gpu/core/sampler/truncating_move.hpp"
#include "tests/gpu/core/sampler/small_models.hpp"

namespace tempera::gpu {

/// One prompt's run, and what it borrows. The context must outlive the run's records too.
struct SmallRun {
  SmallRun(LanguageModel& model, const Context& its_context, std::vector<double> powers,
           Lottery& lottery, std::uint64_t seed = 1, std::size_t largest_batch = 64)
      : context(its_context),
        ladder(std::move(powers)),
        rows(make_device_row_lottery()),
        engine(model, *rows, lottery, largest_batch),
        run{engine, context, ladder, seed} {}

  /// The record of these tokens, freshly scored.
  Record scored(std::size_t horizon, const std::vector<TokenId>& tokens) {
    return score_record(engine.model(), *rows, ladder, context, horizon, tokens);
  }
  Turn turn(Rung rung, std::size_t number = 0) {
    return Turn(run, rung, number, Purpose::proposal_token);
  }
  /// Runs one task to its end.
  void finish(Task task) {
    std::vector<Task> tasks;
    tasks.push_back(std::move(task));
    engine.run(tasks);
  }

  const Context& context;
  Ladder ladder;
  std::unique_ptr<RowLottery> rows;
  Engine engine;
  Chain run;
};

/// Whether two records agree in tokens and in every bit of their scores.
inline bool same_record(const Record& a, const Record& b) {
  if (a.length() != b.length() || a.horizon() != b.horizon() || a.terminated() != b.terminated())
    return false;
  for (std::size_t t = 1; t <= a.length(); ++t) {
    const auto a_z = a.tokens().log_z(t);
    const auto b_z = b.tokens().log_z(t);
    if (a.tokens().token(t) != b.tokens().token(t) || a.tokens().log_p(t) != b.tokens().log_p(t) ||
        !std::equal(a_z.begin(), a_z.end(), b_z.begin(), b_z.end()))
      return false;
  }
  return true;
}

/// Prompt and tokens together.
inline std::vector<TokenId> history_of(const Record& record) {
  std::vector<TokenId> history = record.context().prompt;
  for (const TokenId token : record.token_ids()) history.push_back(token);
  return history;
}

/// Whether a record's cache holds nothing but the beginning of its own history: whether the logits
/// that follow its history are, through it, those that are computed from scratch.
inline bool owns_its_cache(LanguageModel& model, const Record& record) {
  const std::vector<TokenId> history = history_of(record);
  if (record.cache().length() > history.size()) return false;
  const auto own = record.cache().fork(record.cache().length());
  const auto fresh = model.empty_cache();
  const std::vector<TokenId> uncached = record.uncached_tokens();
  const std::vector<Pass> passes{{own.get(), uncached}, {fresh.get(), history}};
  DeviceMemory<float> rows;
  model.next_logits(passes, rows);
  return rows.download(0, model.vocabulary_size()) ==
         rows.download(model.vocabulary_size(), model.vocabulary_size());
}

}  // namespace tempera::gpu
