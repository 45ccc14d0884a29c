#include "lab/enumerate/compiled_kernel.hpp"

#include "reference/numbers/all_cores.hpp"
#include "reference/numbers/common_denominator.hpp"

namespace tempera::lab {
namespace {

using reference::Integer;

/// A matrix of integers over one denominator: sums of products then need no lowest terms.
struct OverOne {
  std::size_t states;
  reference::OverCommonDenominator entries;  ///< row by row

  explicit OverOne(const Matrix& matrix)
      : states(matrix.rows()), entries(reference::over_common_denominator(matrix.entries())) {}
  const Integer& operator()(std::size_t x, std::size_t y) const {
    return entries.numerators[x * states + y];
  }
};

/// row · W_k times its denominator: exchanges with probability accept(x, y).
std::vector<Integer> after_swap(const std::vector<Integer>& row, const OverOne& accept,
                                std::size_t stride) {
  const std::size_t states = accept.states;
  std::vector<Integer> next(row.size());
  for (std::size_t joint = 0; joint < row.size(); ++joint) {
    if (row[joint] == 0) continue;
    const std::size_t y = joint / stride % states;
    const std::size_t x = joint / (stride * states) % states;
    const std::size_t exchanged = joint + (y * states + x) * stride - (x * states + y) * stride;
    reference::add_product(next[exchanged], row[joint], accept(x, y));
    reference::add_product(next[joint], row[joint], accept.entries.denominator - accept(x, y));
  }
  return next;
}

/// row · (I ⊗ L_k ⊗ I) times the denominator of L_k: one rung moves.
std::vector<Integer> after_move(const std::vector<Integer>& row, const OverOne& move,
                                std::size_t stride) {
  std::vector<Integer> next(row.size());
  for (std::size_t joint = 0; joint < row.size(); ++joint) {
    if (row[joint] == 0) continue;
    const std::size_t x = joint / stride % move.states;
    for (std::size_t y = 0; y < move.states; ++y)
      reference::add_product(next[joint + y * stride - x * stride], row[joint], move(x, y));
  }
  return next;
}

}  // namespace

Matrix joint_step(const std::vector<Matrix>& local, const std::vector<Matrix>& swap,
                  gpu::Schedule schedule) {
  const std::size_t states = local.front().rows();
  const std::size_t rungs = local.size();
  std::vector<std::size_t> strides(rungs, 1);
  for (std::size_t k = rungs - 1; k-- > 0;) strides[k] = strides[k + 1] * states;
  const std::size_t joint_states = strides[0] * states;
  const bool layered = schedule == gpu::Schedule::deo;
  const std::vector<OverOne> moves(local.begin(), local.end());
  const std::vector<OverOne> swaps(swap.begin(), swap.end());
  Matrix matrix(joint_states, joint_states);
  reference::on_all_cores(joint_states, [&](std::size_t joint) {
    std::vector<Integer> row(joint_states);
    row[joint] = 1;
    Integer whole = 1;
    for (std::size_t number = 0; number < (layered ? 2 : 1); ++number) {
      for (std::size_t k = 0; k < rungs; ++k) {
        row = after_move(row, moves[k], strides[k]);
        whole *= moves[k].entries.denominator;
      }
      for (std::size_t k = layered ? number : 0; k + 1 < rungs; k += layered ? 2 : 1) {
        row = after_swap(row, swaps[k], strides[k + 1]);
        whole *= swaps[k].entries.denominator;
      }
    }
    for (std::size_t next = 0; next < joint_states; ++next)
      matrix(joint, next) = Rational(row[next], whole);
  });
  return matrix;
}

}  // namespace tempera::lab
