#include "reference/kernels/factored_kernel.hpp"

#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

Matrix random_kernel(std::size_t rows, std::size_t columns) {
  Matrix kernel(rows, columns);
  for (std::size_t x = 0; x < rows; ++x) {
    const auto row = random::weights(columns);
    for (std::size_t y = 0; y < columns; ++y) kernel(x, y) = row[y];
  }
  return kernel;
}

Law times(const Law& law, const Matrix& kernel) {
  Law after(kernel.columns());
  for (std::size_t x = 0; x < kernel.rows(); ++x) {
    for (std::size_t y = 0; y < kernel.columns(); ++y) after[y] += law[x] * kernel(x, y);
  }
  return after;
}

}  // namespace

TEST_CASE("a swap exchanges the two records it is given") {
  FactoredKernel always(Shape{2, 2});
  always.then_swap(0, matrix_of({{q("1"), q("1")}, {q("1"), q("1")}}));
  CHECK(always.apply(point_mass(4, 1)) == point_mass(4, 2));
}

TEST_CASE("factors of another space are refused") {
  FactoredKernel kernel(Shape{2, 3});
  CHECK_THROWS_AS(kernel.then_move({Matrix(2, 2)}), tempera::Bug);
  CHECK_THROWS_AS(kernel.then_move({Matrix(2, 2), Matrix(2, 2)}), tempera::Bug);
  CHECK_THROWS_AS(kernel.then_swap(0, Matrix(2, 2)), tempera::Bug);
  CHECK_THROWS_AS(kernel.then(FactoredKernel(Shape{2})), tempera::Bug);
}

TEST_CASE("laws of factored kernels") {
  law("independent moves are the Kronecker product, rectangular ones too", [] {
    const Matrix first = random_kernel(2, 3), second = random_kernel(3, 2);
    FactoredKernel kernel(Shape{2, 3});
    kernel.then_move({first, second});
    RC_ASSERT(kernel.to() == (Shape{3, 2}));
    const Matrix joint = kernel.matrix();
    for (std::size_t x = 0; x < joint.rows(); ++x) {
      for (std::size_t y = 0; y < joint.columns(); ++y) {
        const auto from = coordinates(kernel.from(), x), to = coordinates(kernel.to(), y);
        RC_ASSERT(joint(x, y) == first(from[0], to[0]) * second(from[1], to[1]));
      }
    }
  });

  law("a law is carried as by the joint matrix, and supports follow its entries", [] {
    FactoredKernel kernel(Shape{2, 2, 2});
    Matrix acceptance(2, 2);
    for (std::size_t i = 0; i < 4; ++i) acceptance(i / 2, i % 2) = random::weights(3)[1];
    kernel.then_move({random_kernel(2, 2), random_kernel(2, 2), random_kernel(2, 2)});
    kernel.then_swap(0, acceptance);
    kernel.then_swap(1, acceptance);
    const Matrix joint = kernel.matrix();
    const Law law = random::weights(8);
    RC_ASSERT(kernel.apply(law) == times(law, joint));
    RC_ASSERT(repeated(kernel, 2).apply(law) == times(times(law, joint), joint));
    for (std::size_t x = 0; x < 8; ++x) {
      std::vector<bool> only_x(8);
      only_x[x] = true;
      const auto after = kernel.successors(only_x), before = kernel.predecessors(only_x);
      for (std::size_t y = 0; y < 8; ++y) {
        RC_ASSERT(after[y] == (joint(x, y) > 0));
        RC_ASSERT(before[y] == (joint(y, x) > 0));
      }
    }
  });
}
