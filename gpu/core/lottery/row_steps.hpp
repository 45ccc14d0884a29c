#pragma once

#include <cstdint>

#include "gpu/core/lottery/row_kernels.hpp"
#include "gpu/device/instruction_set.hpp"

namespace tempera::gpu {

/// The steps of a batch of rows through the lottery, in one of several forms that give the same
/// bits: on Thrust (the readable one), as CUDA kernels, or on the host's threads, compiled
/// for one instruction set. The batch's pointers are to memory that the form can reach.
class RowSteps {
 public:
  virtual ~RowSteps();
  /// "thrust", "cuda", "cuda, on fibers", or "host, avx2" and the like: what its source was really
  /// compiled for.
  virtual const char* name() const = 0;

  /// The largest logit of every chunk and row, and whether the row can be drawn from.
  virtual void find_largest(const RowBatch& batch) const = 0;
  /// The sums of tickets and grains of every chunk.
  virtual void sum_tickets(const RowBatch& batch) const = 0;
  /// The winner of every row and its scores.
  virtual void draw_winners(const RowBatch& batch) const = 0;
  /// tickets: [rows, vocabulary].
  virtual void write_tickets(const RowBatch& batch, std::uint64_t* tickets) const = 0;
  /// log z of every row for `rungs` powers each.
  virtual void score_normalizers(const RowBatch& batch, std::uint64_t rungs) const = 0;
};

/// The form on the host's threads for one instruction set (row_steps.isa.cpp).
template <InstructionSet>
const RowSteps& host_row_steps_for();

/// The same, chosen at run time.
/// @throw Bug if why_missing(set) is not empty
const RowSteps& host_row_steps(InstructionSet set);

inline namespace TEMPERA_INSTRUCTION_SET {

/// The steps as `Each` runs them: its name(), run(items, kernel), which calls kernel(item) for
/// every item < items, and the forms that FindChunkLargest and SumTickets have there.
template <class Each>
class RowStepsBy final : public RowSteps {
 public:
  const char* name() const override { return Each::name(); }
  void find_largest(const RowBatch& batch) const override {
    Each::run(batch.rows * batch.chunks, typename Each::FindChunkLargest{batch});
    Each::run(batch.rows, FindLargest{batch});
  }
  void sum_tickets(const RowBatch& batch) const override {
    Each::run(batch.rows * batch.chunks, typename Each::SumTickets{batch});
  }
  void draw_winners(const RowBatch& batch) const override {
    Each::run(batch.rows, DrawWinner{batch});
  }
  void write_tickets(const RowBatch& batch, std::uint64_t* tickets) const override {
    Each::run(batch.rows * batch.vocabulary, WriteTickets{batch, tickets});
  }
  void score_normalizers(const RowBatch& batch, std::uint64_t rungs) const override {
    Each::run(batch.rows * rungs, ScoreNormalizers{batch, rungs});
  }
};

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
