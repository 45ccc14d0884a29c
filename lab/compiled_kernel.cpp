#include "lab/compiled_kernel.hpp"

namespace tempera::lab {
namespace {

/// row · W_k: exchanges with probability accept(x, y).
std::vector<Rational> after_swap(const std::vector<Rational>& row, const Matrix& accept,
                                 std::size_t states, std::size_t stride) {
  std::vector<Rational> next(row.size());
  for (std::size_t joint = 0; joint < row.size(); ++joint) {
    if (row[joint] == 0) continue;
    const std::size_t y = joint / stride % states;
    const std::size_t x = joint / (stride * states) % states;
    const std::size_t exchanged = joint + (y * states + x) * stride - (x * states + y) * stride;
    const Rational moved = row[joint] * accept(x, y);
    next[exchanged] += moved;
    next[joint] += row[joint] - moved;
  }
  return next;
}

/// row · (I ⊗ L_k ⊗ I): one rung moves.
std::vector<Rational> after_move(const std::vector<Rational>& row, const Matrix& move,
                                 std::size_t stride) {
  const std::size_t states = move.rows();
  std::vector<Rational> next(row.size());
  for (std::size_t joint = 0; joint < row.size(); ++joint) {
    if (row[joint] == 0) continue;
    const std::size_t x = joint / stride % states;
    for (std::size_t y = 0; y < states; ++y)
      if (move(x, y) != 0) next[joint + y * stride - x * stride] += row[joint] * move(x, y);
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
  Matrix matrix(joint_states, joint_states);
  for (std::size_t joint = 0; joint < joint_states; ++joint) {
    std::vector<Rational> row(joint_states);
    row[joint] = 1;
    for (std::size_t number = 0; number < (layered ? 2 : 1); ++number) {
      for (std::size_t k = 0; k < rungs; ++k) row = after_move(row, local[k], strides[k]);
      for (std::size_t k = layered ? number : 0; k + 1 < rungs; k += layered ? 2 : 1)
        row = after_swap(row, swap[k], states, strides[k + 1]);
    }
    for (std::size_t next = 0; next < joint_states; ++next) matrix(joint, next) = row[next];
  }
  return matrix;
}

}  // namespace tempera::lab
