#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/analysis/spectral_gap.hpp"
#include "reference/kernels/parallel_tempering.hpp"

namespace tempera::lab {

/// A local kernel to be compared: its matrix on S_T, and the decode tokens that a move is expected
/// to take from each record.
struct LocalKernel {
  reference::Matrix matrix;
  std::vector<reference::Rational> tokens;
};

/// What the kernels are compared on.
struct KernelContest {
  const reference::FixedHorizonSpace& space;
  const reference::Ladder& ladder;
  std::size_t moves = 4;  ///< of the paper's kernel, whose expected decode tokens all others get
};

/// A way to run a ladder: a local kernel for each rung, and the schedule of the sweeps between the
/// moves.
struct ComparedKernel {
  std::string name;
  std::function<LocalKernel(const reference::FixedHorizonSpace&, const reference::Power&)> local;
  reference::Schedule schedule = reference::Schedule::adj;
};

/// One of them, from its definition alone.
struct KernelFigures {
  std::string name;
  /// Decode tokens that one move of every rung is expected to take at equilibrium.
  reference::Rational tokens;
  /// TV of the last rung's law from its target when the budget is spent: the law after n moves or
  /// n + 1, mixed so that the expected decode tokens are just the budget.
  reference::Rational tv;
  std::size_t moves = 0;  ///< that n
  /// 1 − the second largest eigenvalue; of one rung, if there are at most gap_limit records.
  std::optional<reference::Bracket> gap;
};

inline constexpr std::size_t gap_limit = 32;

/// Every kernel run from the same start, each rung's record drawn from Π_t g_{α_k}(x_t | x_<t) as
/// block extension leaves it, until it has spent what the first of the kernels is expected to spend
/// in contest.moves moves: error removed at matched expected compute, as rationals.
struct KernelComparison {
  reference::Rational budget;       ///< expected decode tokens, the start's not counted
  reference::Rational tv_start;     ///< of the last rung
  std::vector<KernelFigures> rows;  ///< as the kernels
};

/// @throw BadInput if a space is too large, a power irrational, or a kernel takes too
/// few tokens to spend the budget in 1,000 moves
KernelComparison compare_kernels(const KernelContest& contest,
                                 const std::vector<ComparedKernel>& kernels);

/// The paper's kernel, r uniform on 1..T, with which the others are compared.
ComparedKernel paper_kernel(reference::Schedule schedule = reference::Schedule::adj);
/// Any restart law, made from the horizon, over either range.
ComparedKernel restart_kernel(const std::string& name,
                              const std::function<reference::RestartLaw(std::size_t)>& law,
                              reference::RestartRange range);

/// Restart weights that a pilot would measure at equilibrium, one for each position: the
/// probability that a restart there changes the record, the mean over all rungs, relative to the
/// largest.
std::vector<reference::Rational> equilibrium_weights(const KernelContest& contest);

}  // namespace tempera::lab
