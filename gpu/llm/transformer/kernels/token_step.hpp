#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/llm/transformer/cache/paged_cache.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// How the kernels of a step are queued. It changes no bit.
enum class StepForm {
  graph,     ///< captured once for each shape of a step, and replayed
  launches,  ///< one by one
  /// A graph in which all layers of a dense decoder are one kernel, if the step has at most 8 rows
  /// and the model has the weights and heads for it (takes_joined_layers); elsewhere as `graph`.
  joined,
  /// As `graph` or as `joined`, whichever the first replays of a step of so many rows and so long a
  /// context have shown to be faster. The first of them runs both and compares their bits.
  timed,
};

/// One row of a step: a record, the token that it computes first, if any, and what is drawn.
struct StepRow {
  const PagedCache* cache;       // with room for the token, and not yet holding it
  std::optional<TokenId> token;  // else the head alone runs, for the last token that is held
  RowDraw draw;
};

/// What a step needs of its model, besides its kernels.
struct StepModel {
  std::size_t vocabulary_size;
  std::size_t max_position;
  PageMemory memory;
  std::uint32_t scratch_page;  // that belongs to no record: rows that compute no token write there
  PageMemory states{};         // of all recurrent states; null if the model has none
  std::uint32_t scratch_state = 0;  // as scratch_page
  /// Queues the computation of rows and the logits of as many: Architecture::step.
  std::function<void(const TokenRows& computed, const CachedRows& asked, const LogitRows& logits)>
      queue;
};

/// A whole step of decoding on a device: every row computes at most one token, and then one is
/// drawn from its logits, with the bits that next_logits and RowLottery::draw give.
///
/// What changes from step to step goes to the device in one small buffer: the entries of the tables
/// of pages and states that have changed, the rows' positions, and their draws; a token that the
/// step before has drawn in the same slot is taken from there. Rows are filled up to a power of
/// two, and a step of so many rows, with contexts up to a power of two, is one graph, captured
/// once, unless its kernels are asked for one by one (StepForm). The host waits once: for the
/// tokens with their scores.
class TokenStep {
 public:
  virtual ~TokenStep();
  /// The most rows of a step.
  static constexpr std::size_t largest_rows = 512;
  using Copies = std::span<const PagedCache::PageCopy>;

  /// copies, state_copies: the pages, and the recurrent states, that are copied before anything is
  /// computed, at most one of each a row. No cache has anything to replay.
  /// @throw ModelError as RowLottery::draw does
  virtual std::vector<ScoredToken> run(const StepModel& model, std::span<const StepRow> rows,
                                       Copies copies, Copies state_copies) = 0;
};

/// Kernels that count their whole steps.
class CountsSteps {
 public:
  virtual ~CountsSteps();
  /// Whole steps so far, in either form, and how many of them were a graph.
  virtual std::uint64_t steps() const = 0;
  virtual std::uint64_t graph_replays() const = 0;
};

}  // namespace tempera::gpu
