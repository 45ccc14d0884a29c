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

}  // namespace

Matrix joint_step(const std::vector<Matrix>& local, const std::vector<Matrix>& swap) {
  const std::size_t states = local.front().rows();
  const std::size_t rungs = local.size();
  std::size_t joint_states = 1;
  for (std::size_t k = 0; k < rungs; ++k) joint_states *= states;
  Matrix matrix(joint_states, joint_states);
  for (std::size_t joint = 0; joint < joint_states; ++joint) {
    std::vector<Rational> row{Rational(1)};
    std::size_t stride = joint_states;
    for (std::size_t k = 0; k < rungs; ++k) {
      stride /= states;
      const std::size_t x = joint / stride % states;
      std::vector<Rational> product;
      product.reserve(row.size() * states);
      for (const Rational& left : row)
        for (std::size_t y = 0; y < states; ++y) product.push_back(left * local[k](x, y));
      row = std::move(product);
    }
    stride = joint_states / states;
    for (std::size_t k = 0; k + 1 < rungs; ++k) {
      stride /= states;
      row = after_swap(row, swap[k], states, stride);
    }
    for (std::size_t next = 0; next < joint_states; ++next) matrix(joint, next) = row[next];
  }
  return matrix;
}

}  // namespace tempera::lab
