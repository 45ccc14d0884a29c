#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/core/sampler/score_record.hpp"
#include "lab/enumerate/compiled_space.hpp"

namespace tempera::lab {

/// The records of a model as they are when computed from the prompt on and scored: what every
/// record that a program leaves is compared with, bit for bit. If all agree, a record's
/// future is a function of its tokens.
class CanonicalRecords {
 public:
  /// rows: the form of the draw that the programs run. Model and ladder must outlive it.
  CanonicalRecords(const EnumerableModel& model, const gpu::Ladder& ladder,
                   std::unique_ptr<gpu::RowLottery> rows = gpu::make_device_row_lottery());

  /// A record of these tokens at this horizon, with a cache of its own.
  gpu::Record copy(const std::vector<gpu::TokenId>& tokens, std::size_t horizon);

  /// What of a record is not its own: "scores" or "cache" for each; nothing if all is.
  std::vector<std::string> stale_parts(const gpu::Record& record);

  /// The rows of the programs whose records these are. Another one scores the fresh records,
  /// since a program may be looked at in the middle of a draw.
  gpu::RowLottery& rows() { return *rows_; }

 private:
  const gpu::Record& fresh(const std::vector<gpu::TokenId>& tokens);
  bool holds_beginning_of(const gpu::Cache& cache, const std::vector<gpu::TokenId>& tokens);

  const EnumerableModel& model_;
  const gpu::Ladder& ladder_;
  std::unique_ptr<gpu::RowLottery> rows_;
  std::unique_ptr<gpu::RowLottery> scoring_ = gpu::make_device_row_lottery();
  std::map<std::vector<gpu::TokenId>, gpu::Record> fresh_;
  gpu::DeviceMemory<float> logits_;
};

}  // namespace tempera::lab
