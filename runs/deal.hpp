#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "settings/sampling_settings.hpp"

namespace tempera::gpu {

/// Gives one process the runs that it draws, one after the other. A run's index is
/// prompt · samples + sample.
class Deal {
 public:
  virtual ~Deal() = default;
  /// What earlier processes left in the folder: the runs that have been delivered, in their
  /// order, and those that are under way, in ascending order. Called once, before `next`.
  /// @throw BadInput naming `folder` if no such deal can have left them
  virtual void begin(std::span<const std::size_t> delivered, std::span<const std::size_t> under_way,
                     const std::string& folder) = 0;
  /// The next run, those that are under way among them; nothing if none is left.
  virtual std::optional<std::size_t> next() = 0;
  /// How many runs it gives, as far as that is known: for the share that is done.
  virtual std::size_t runs() const = 0;
};

/// The deal of a list that is known before.
class ListedRuns final : public Deal {
 public:
  explicit ListedRuns(std::vector<std::size_t> runs) : runs_(std::move(runs)) {}
  void begin(std::span<const std::size_t> delivered, std::span<const std::size_t> under_way,
             const std::string& folder) override;
  std::optional<std::size_t> next() override;
  std::size_t runs() const override { return runs_.size(); }

 private:
  std::vector<std::size_t> runs_;
  std::size_t next_ = 0;
};

/// The tokens that a prompt's answer is expected to take, of a run that never ends early. A local
/// move from a uniform position of T_m draws (T_m + 1)/2 of them in the mean:
/// K Σ_m [T_m − T_{m−1} + N_m n_local,m (T_m + 1)/2], and the prompt's own, shared by its samples.
double expected_tokens(const Plan& plan, std::size_t replicas, std::size_t prompt_tokens,
                       std::size_t samples);

/// The runs of shard `shard` of `shards`, in ascending order. Longest first, each run goes to
/// the shard that has the fewest expected tokens so far; of equal ones to the first. So the deal is
/// a function of the settings and the number of shards: it knows no host, no clock and no order.
/// @pre 1 <= shard <= shards
std::vector<std::size_t> dealt_runs(const SamplingSettings& settings, std::size_t shard,
                                    std::size_t shards);

/// The same deal of any costs: which shard, from 0, each run goes to.
std::vector<std::size_t> deal_by_cost(std::span<const double> costs, std::size_t shards);

/// The expected tokens of each run.
std::vector<double> expected_tokens_of_runs(const SamplingSettings& settings);

}  // namespace tempera::gpu
