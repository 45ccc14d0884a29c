#include "lab/laws/one_step_law.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "lab/laws/question_kernels.hpp"

namespace tempera::lab {
namespace {

const std::string step_is_enumerated = "whose step is enumerated";

using RealMatrix = std::vector<std::vector<Real>>;

RealMatrix to_reals(const Matrix& matrix) {
  RealMatrix reals(matrix.rows());
  for (std::size_t x = 0; x < matrix.rows(); ++x)
    for (std::size_t y = 0; y < matrix.columns(); ++y) reals[x].push_back(to_real(matrix(x, y)));
  return reals;
}

/// law · (I ⊗ L ⊗ I), the coordinate `stride` apart.
std::vector<Real> after_move(const std::vector<Real>& law, const RealMatrix& move,
                             std::size_t stride) {
  const std::size_t n = move.size();
  std::vector<Real> next(law.size(), 0);
  for (std::size_t joint = 0; joint < law.size(); ++joint) {
    const std::size_t x = joint / stride % n;
    for (std::size_t y = 0; y < n; ++y)
      if (move[x][y] != 0) next[joint - x * stride + y * stride] += law[joint] * move[x][y];
  }
  return next;
}

/// law · W, the upper coordinate `stride` apart.
std::vector<Real> after_swap(const std::vector<Real>& law, const RealMatrix& accept,
                             std::size_t stride) {
  const std::size_t n = accept.size();
  std::vector<Real> next(law.size(), 0);
  for (std::size_t joint = 0; joint < law.size(); ++joint) {
    const std::size_t y = joint / stride % n;
    const std::size_t x = joint / (stride * n) % n;
    const Real moved = law[joint] * accept[x][y];
    next[joint - (x * n + y) * stride + (y * n + x) * stride] += moved;
    next[joint] += law[joint] - moved;
  }
  return next;
}

/// Σ_y min_x L(x, y), the rows given one after the other.
class Minorization {
 public:
  template <class Row>
  void add(const Row& row) {
    if (least_.empty()) least_.assign(row.size(), Real(1));
    for (std::size_t y = 0; y < row.size(); ++y) least_[y] = std::min(least_[y], Real(row[y]));
  }
  Real value() const {
    Real sum = 0;
    for (const Real& least : least_) sum += least;
    return sum;
  }

 private:
  std::vector<Real> least_;
};

void bound_own(OneStepReport& report) {
  if (report.minorization > 0) report.tv_own_at_most = report.tv_one_step / report.minorization;
}

}  // namespace

std::size_t law_states(const EnumerableModel& model, const LawQuestion& question) {
  return joint_states(CompiledSpace(model, question.horizon, one_step_limit),
                      question.powers.size(), one_step_limit, step_is_enumerated);
}

OneStepReport one_step_law(const EnumerableModel& model, const LawQuestion& question,
                           const LawProgress& begins) {
  const gpu::Ladder ladder(question.powers);
  const CompiledSpace space(model, question.horizon, one_step_limit);
  OneStepReport report{space.size(),
                       joint_states(space, ladder.rungs(), one_step_limit, step_is_enumerated),
                       0,
                       1,
                       std::nullopt,
                       0};
  QuestionKernels kernel(space, ladder, question);
  std::vector<Real> target{1};
  for (const double power : question.powers) {
    std::vector<Real> longer;
    const std::vector<Real> of_rung = space.own_target(power);
    for (const Real& before : target)
      for (const Real& mass : of_rung) longer.push_back(before * mass);
    target = std::move(longer);
  }

  if (ladder.rungs() == 1) {
    // Row by row: the matrix itself may be larger than memory.
    std::vector<Real> next(target.size(), 0), reals(target.size());
    Minorization minorization;
    for (std::size_t x = 0; x < space.size(); ++x) {
      if (begins && x % 16 == 0)
        begins(x, space.size(), "local moves from " + std::to_string(x) + " states");
      const std::vector<Rational> row = kernel.local_row(0, x);
      for (std::size_t y = 0; y < row.size(); ++y) {
        reals[y] = row[y] == 0 ? Real(0) : to_real(row[y]);
        if (row[y] != 0) next[y] += target[x] * reals[y];
      }
      minorization.add(reals);
    }
    report.minorization = minorization.value();
    report.tv_one_step = total_variation(next, target);
    bound_own(report);
    report.stale_records = kernel.stale_records();
    return report;
  }

  const std::size_t steps = 2 * ladder.rungs();
  std::size_t done = 0;
  const auto begin = [&](const std::string& name) {
    if (begins) begins(done, steps, name);
    ++done;
  };
  std::vector<RealMatrix> local, swap;
  for (gpu::Rung k = 0; k < ladder.rungs(); ++k) {
    begin("local moves of rung " + std::to_string(k + 1));
    local.push_back(to_reals(kernel.local_move(k)));
    Minorization minorization;
    for (const std::vector<Real>& row : local.back()) minorization.add(row);
    report.minorization *= minorization.value();
  }
  for (gpu::Rung k = 0; k + 1 < ladder.rungs(); ++k) {
    begin("swaps of rungs " + std::to_string(k + 1) + " and " + std::to_string(k + 2));
    swap.push_back(to_reals(kernel.swap(k)));
  }
  begin("one step from the target");
  std::vector<std::size_t> strides(ladder.rungs(), 1);
  for (std::size_t k = ladder.rungs() - 1; k-- > 0;) strides[k] = strides[k + 1] * space.size();
  const bool is_layered = question.schedule == gpu::Schedule::deo;
  std::vector<Real> law = target;
  for (std::size_t number = 0; number < (is_layered ? 2 : 1); ++number) {
    for (std::size_t k = 0; k < ladder.rungs(); ++k) law = after_move(law, local[k], strides[k]);
    for (std::size_t k = is_layered ? number : 0; k + 1 < ladder.rungs(); k += is_layered ? 2 : 1)
      law = after_swap(law, swap[k], strides[k + 1]);
  }
  report.tv_one_step = total_variation(law, target);
  bound_own(report);
  report.stale_records = kernel.stale_records();
  return report;
}

}  // namespace tempera::lab
