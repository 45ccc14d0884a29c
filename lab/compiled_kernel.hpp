#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "gpu/model/table_model.hpp"
#include "gpu/sampler/local_move.hpp"
#include "gpu/sampler/score_record.hpp"
#include "gpu/sampler/swap.hpp"
#include "lab/compiled_space.hpp"
#include "lab/tree_lottery.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

using reference::Matrix;

/// A record that a kernel left behind with something other than its own in its scores or its cache.
struct StaleRecord {
  std::size_t x;     ///< the state that a local move left, or that rung k held before a swap
  std::size_t y;     ///< the state that a local move reached, or that rung k + 1 held
  std::string what;  ///< "scores" or "cache"
};

/// Lets every draw through as it is: the door of production.
using OpenDoor = gpu::Lottery&;

/// The kernels of production, enumerated: exact transition probabilities of the compiled program,
/// its floating point, caches and forks included.
///
/// Every state is entered as a freshly scored record, and every outcome is compared, bit for bit,
/// with the freshly scored record of its tokens. Where all agree, a record's future depends on its
/// tokens alone, and the matrices are the exact law of the program; where one does not, it is in
/// stale().
///
/// Door: what stands between the program and the lottery that enumerates it, made from that
/// lottery.
template <class Rules = gpu::PaperRules, class Door = OpenDoor>
class CompiledKernel {
 public:
  /// rows: the form of the draw that the program runs.
  CompiledKernel(const CompiledSpace& space, gpu::Ladder ladder, gpu::RestartLaw restart_law,
                 std::unique_ptr<gpu::RowLottery> rows = gpu::make_device_row_lottery())
      : space_(space),
        ladder_(std::move(ladder)),
        restart_law_(std::move(restart_law)),
        rows_(std::move(rows)) {
    for (std::size_t s = 0; s < space.size(); ++s)
      canonical_.push_back(gpu::score_record(space.model().model, *rows_, ladder_,
                                             space.model().context, space.horizon(),
                                             space.tokens(s)));
  }

  /// L_k of rung k: [|S|, |S|].
  Matrix local_move(gpu::Rung k) {
    Matrix matrix(space_.size(), space_.size());
    for (std::size_t s = 0; s < space_.size(); ++s) {
      std::optional<gpu::Record> x;
      enumerate(
          [&](gpu::Lottery& tree) {
            x = canonical_[s].copy();
            run(tree, [&](gpu::Run& run) {
              std::vector<gpu::Task> tasks;
              tasks.push_back(gpu::local_move<Rules>(
                  *x, gpu::Turn(run, k, 0, gpu::Purpose::proposal_token), restart_law_));
              run.engine.run(tasks);
            });
          },
          [&](const Rational& probability) {
            const std::size_t y = space_.find(x->token_ids());
            inspect(*x, s, y);
            matrix(s, y) += probability;
          });
    }
    return matrix;
  }

  /// The probability that edge k exchanges records x and y: [|S|, |S|], x at rung k, y at k + 1.
  Matrix swap(gpu::Rung k) {
    Matrix matrix(space_.size(), space_.size());
    for (std::size_t s = 0; s < space_.size(); ++s) {
      for (std::size_t t = 0; t < space_.size(); ++t) {
        std::vector<gpu::Record> replicas;
        bool exchanged = false;
        enumerate(
            [&](gpu::Lottery& tree) {
              replicas.clear();
              for (gpu::Rung j = 0; j < ladder_.rungs(); ++j)
                replicas.push_back(canonical_[j == k + 1 ? t : s].copy());
              run(tree, [&](gpu::Run& run) {
                gpu::attempt_swap<Rules>(replicas, gpu::Turn(run, k, 0, gpu::Purpose::swap));
                exchanged = run.events.back().accepted;
              });
            },
            [&](const Rational& probability) {
              const std::size_t at_k = inspect(replicas[k], s, t);
              const std::size_t at_next = inspect(replicas[k + 1], s, t);
              if (exchanged && at_k == t && at_next == s) matrix(s, t) += probability;
            });
      }
    }
    return matrix;
  }

  /// One complete round of the joint chain, enumerated as one program: `program` moves the
  /// replicas. Returns the law over joint states, first rung most significant, from the joint state
  /// `from`.
  template <class Program>
  std::vector<Rational> joint_row(const std::vector<std::size_t>& from, Program&& program) {
    std::size_t states = 1;
    for (gpu::Rung k = 0; k < ladder_.rungs(); ++k) states *= space_.size();
    std::vector<Rational> row(states);
    std::vector<gpu::Record> replicas;
    enumerate(
        [&](gpu::Lottery& tree) {
          replicas.clear();
          for (const std::size_t s : from) replicas.push_back(canonical_[s].copy());
          run(tree, [&](gpu::Run& run) { program(run, replicas); });
        },
        [&](const Rational& probability) {
          std::size_t joint = 0;
          for (gpu::Rung k = 0; k < replicas.size(); ++k)
            joint = joint * space_.size() + inspect(replicas[k], from.front(), from.back());
          row[joint] += probability;
        });
    return row;
  }

  const CompiledSpace& space() const { return space_; }
  const gpu::Ladder& ladder() const { return ladder_; }
  const gpu::RestartLaw& restart_law() const { return restart_law_; }
  const std::vector<StaleRecord>& stale() const { return stale_; }

 private:
  template <class Step>
  void run(gpu::Lottery& tree, Step&& step) {
    Door lottery(tree);
    gpu::Engine engine(space_.model().model, *rows_, lottery);
    gpu::Run run{engine, space_.model().context, ladder_};
    step(run);
  }

  /// The state of a record; notes it under (x, y) if it is not what a fresh one is, bit for bit.
  std::size_t inspect(const gpu::Record& record, std::size_t x, std::size_t y) {
    const std::size_t state = space_.find(record.token_ids());
    const auto same_bits = [](double a, double b) {
      return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    };
    const gpu::ScoredSequence& fresh = canonical_[state].tokens();
    const gpu::ScoredSequence& kept = record.tokens();
    for (std::size_t t = 1; t <= record.length(); ++t) {
      const auto fresh_z = fresh.log_z(t);
      if (same_bits(fresh.log_p(t), kept.log_p(t)) &&
          std::equal(fresh_z.begin(), fresh_z.end(), kept.log_z(t).begin(), same_bits))
        continue;
      stale_.push_back({x, y, "scores"});
      break;
    }
    if (!holds_beginning_of(record.cache(), state)) stale_.push_back({x, y, "cache"});
    return state;
  }

  /// Whether a cache holds what computing the beginning of prompt and record from scratch puts
  /// there. A table's cache holds the tokens themselves; of any other the logits that follow from
  /// it are compared, bit for bit, with those computed from scratch.
  bool holds_beginning_of(const gpu::Cache& cache, std::size_t state) {
    std::vector<gpu::TokenId> history = space_.model().context.prompt;
    history.insert(history.end(), space_.tokens(state).begin(), space_.tokens(state).end());
    if (cache.length() > history.size()) return false;
    if (const auto* table = dynamic_cast<const gpu::TokenCache*>(&cache))
      return std::equal(table->tokens().begin(), table->tokens().end(), history.begin());
    const auto own = cache.fork(cache.length());
    const auto fresh = space_.model().model.empty_cache();
    const gpu::Pass passes[] = {{own.get(), std::span(history).subspan(cache.length())},
                                {fresh.get(), history}};
    space_.model().model.next_logits(passes, logits_);
    const std::size_t vocabulary = space_.model().model.vocabulary_size();
    const std::vector<float> rows = logits_.download(0, 2 * vocabulary);
    return std::memcmp(rows.data(), rows.data() + vocabulary, vocabulary * sizeof(float)) == 0;
  }

  const CompiledSpace& space_;
  gpu::Ladder ladder_;
  gpu::RestartLaw restart_law_;
  std::unique_ptr<gpu::RowLottery> rows_;
  std::vector<gpu::Record> canonical_;
  std::vector<StaleRecord> stale_;
  gpu::DeviceMemory<float> logits_;
};

/// One step of the joint chain, R then one ordered sweep C = W_1 ⋯ W_{K−1}, from the enumerated L_k
/// and swap probabilities; joint states are mixed-radix numbers, first rung most significant.
Matrix joint_step(const std::vector<Matrix>& local, const std::vector<Matrix>& swap);

}  // namespace tempera::lab
