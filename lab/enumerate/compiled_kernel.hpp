#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/local_move.hpp"
#include "gpu/core/sampler/swap.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "lab/enumerate/canonical_records.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "lab/enumerate/tree_lottery.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

using reference::Matrix;

/// A record that a kernel left over with something other than its own in its scores or its cache.
struct StaleRecord {
  std::size_t x;     ///< the state that a local move left, or that rung k held before a swap
  std::size_t y;     ///< the state that a local move reached, or that rung k + 1 held
  std::string what;  ///< "scores" or "cache"
};

/// Passes every draw to the lottery unchanged, as production does.
using NoInterceptor = gpu::Lottery&;

/// The kernels of production, enumerated: exact transition probabilities of the compiled program,
/// its floating point, caches and forks included.
///
/// Every state is entered as a freshly scored record, and every outcome is compared, bit for bit,
/// with the freshly scored record of its tokens. If all agree, a record's future depends on its
/// tokens alone, and the matrices are the exact law of the program; if one does not, it is in
/// stale().
///
/// Interceptor: what is between the program and the lottery that enumerates it; it is made from
/// that lottery.
template <class Rules = gpu::PaperRules, class Interceptor = NoInterceptor>
class CompiledKernel {
 public:
  /// rows: the form of the draw that the program runs.
  CompiledKernel(const CompiledSpace& space, gpu::Ladder ladder, gpu::RestartLaw restart_law,
                 std::unique_ptr<gpu::RowLottery> rows = gpu::make_device_row_lottery())
      : space_(space),
        ladder_(std::move(ladder)),
        restart_law_(std::move(restart_law)),
        canonical_(space.model(), ladder_, std::move(rows)) {}

  /// From now on the programs end proposals whose rejection is certain.
  void reject_early() { early_rejection_ = true; }

  /// L_k of rung k: [|S|, |S|].
  Matrix local_move(gpu::Rung k) {
    Matrix matrix(space_.size(), space_.size());
    for (std::size_t s = 0; s < space_.size(); ++s) {
      const std::vector<Rational> row = local_row(k, s);
      for (std::size_t y = 0; y < row.size(); ++y) matrix(s, y) = row[y];
    }
    return matrix;
  }

  /// Its row from one state: [|S|].
  std::vector<Rational> local_row(gpu::Rung k, std::size_t s) {
    std::vector<Rational> row(space_.size());
    std::optional<gpu::Record> x;
    enumerate(
        [&](gpu::Lottery& tree) {
          x = canonical(s);
          run(tree, [&](gpu::Chain& chain) {
            std::vector<gpu::Task> tasks;
            tasks.push_back(gpu::local_move<Rules>(
                *x, gpu::Turn(chain, k, 0, gpu::Purpose::proposal_token), restart_law_));
            chain.engine.run(tasks);
          });
        },
        [&](const Rational& probability) {
          const std::size_t y = space_.find(x->token_ids());
          inspect(*x, s, y);
          row[y] += probability;
        });
    return row;
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
                replicas.push_back(canonical(j == k + 1 ? t : s));
              run(tree, [&](gpu::Chain& chain) {
                gpu::attempt_swap<Rules>(replicas, gpu::Turn(chain, k, 0, gpu::Purpose::swap));
                exchanged = chain.events.back().accepted;
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
          for (const std::size_t s : from) replicas.push_back(canonical(s));
          run(tree, [&](gpu::Chain& chain) { program(chain, replicas); });
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
    Interceptor lottery(tree);
    gpu::Engine engine(space_.model().model, canonical_.rows(), lottery);
    gpu::Chain chain{engine, space_.model().context, ladder_};
    chain.options.early_rejection = early_rejection_;
    step(chain);
  }

  gpu::Record canonical(std::size_t s) {
    return canonical_.copy(space_.tokens(s), space_.horizon());
  }

  /// The state of a record; notes it under (x, y) if it is not what a fresh one is, bit for bit.
  std::size_t inspect(const gpu::Record& record, std::size_t x, std::size_t y) {
    for (std::string& part : canonical_.stale_parts(record))
      stale_.push_back({x, y, std::move(part)});
    return space_.find(record.token_ids());
  }

  const CompiledSpace& space_;
  gpu::Ladder ladder_;
  gpu::RestartLaw restart_law_;
  CanonicalRecords canonical_;
  bool early_rejection_ = false;
  std::vector<StaleRecord> stale_;
};

/// One step of the joint chain from the enumerated L_k and swap probabilities: under ADJ R, then
/// the ordered sweep C = W_1 ⋯ W_{K−1}; under DEO R, the odd edges, R, the even ones. Joint states
/// are mixed-radix numbers, first rung most significant.
Matrix joint_step(const std::vector<Matrix>& local, const std::vector<Matrix>& swap,
                  gpu::Schedule schedule = gpu::Schedule::adj);

}  // namespace tempera::lab
