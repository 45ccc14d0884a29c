#include "lab/defects/gallery.hpp"

#include <sstream>
#include <tuple>

#include "lab/defects/defects.hpp"
#include "lab/enumerate/compiled_kernel.hpp"
#include "lab/enumerate/own_model.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/swap.hpp"

namespace tempera::lab {
namespace {

/// Keeps the counterexample with the fewest tokens, then the first in order.
class SmallestPair {
 public:
  explicit SmallestPair(const CompiledSpace& space) : space_(space) {}
  void offer(const std::string& kernel, std::size_t x, std::size_t y, const std::string& compiled,
             const std::string& exact) {
    const auto size = std::make_tuple(space_.tokens(x).size() + space_.tokens(y).size(), x, y);
    if (found_ && size_ <= size) return;
    size_ = size;
    found_ = Counterexample{kernel, space_.name(x), space_.name(y), compiled, exact};
  }
  /// weight: of each pair's first state at equilibrium; [|S|, |S|].
  void compare(const std::string& kernel, const Matrix& compiled, const Matrix& exact,
               const Matrix& weight) {
    for (std::size_t x = 0; x < space_.size(); ++x)
      for (std::size_t y = 0; y < space_.size(); ++y)
        // Not `above the bound`: a difference that is no number is none that agrees.
        if (x != y &&
            !(to_real(weight(x, y)) * abs(to_real(compiled(x, y)) - to_real(exact(x, y))) <=
              flow_bound))
          offer(kernel, x, y, to_scientific(to_real(compiled(x, y))),
                to_scientific(to_real(exact(x, y))));
  }
  const std::optional<Counterexample>& found() const { return found_; }

 private:
  const CompiledSpace& space_;
  std::optional<Counterexample> found_;
  std::tuple<std::size_t, std::size_t, std::size_t> size_;
};

std::string text(double power) {
  std::ostringstream out;
  out << power;
  return out.str();
}

reference::Power exact_power(double power) { return reference::parse_power(text(power), "powers"); }

Matrix weight_of_pair(const reference::Law& at_x, const reference::Law& at_y) {
  Matrix weight(at_x.size(), at_y.size());
  for (std::size_t x = 0; x < at_x.size(); ++x)
    for (std::size_t y = 0; y < at_y.size(); ++y) weight(x, y) = at_x[x] * at_y[y];
  return weight;
}

Matrix weight_of_first(const reference::Law& at_x) {
  return weight_of_pair(at_x, reference::Law(at_x.size(), Rational(1)));
}

template <class Rules, class Interceptor>
std::optional<Counterexample> check(const EnumerableModel& model, std::size_t horizon,
                                    const std::vector<double>& powers) {
  const CompiledSpace space(model, horizon);
  const reference::FixedHorizonSpace exact_space(own_model(model, horizon, "own"), horizon);
  CompiledKernel<Rules, Interceptor> kernel(space, gpu::Ladder(powers),
                                            gpu::RestartLaw::uniform(horizon));
  SmallestPair smallest(space);
  std::vector<reference::Law> targets;
  for (const double power : powers)
    targets.push_back(reference::power_target(exact_space, exact_power(power)));
  for (gpu::Rung k = 0; k < powers.size(); ++k)
    smallest.compare("local move at power " + text(powers[k]), kernel.local_move(k),
                     reference::fixed_horizon_kernel(exact_space, exact_power(powers[k]),
                                                     reference::RestartLaw::uniform(horizon)),
                     weight_of_first(targets[k]));
  for (gpu::Rung k = 0; k + 1 < powers.size(); ++k)
    smallest.compare("swap of powers " + text(powers[k]) + " and " + text(powers[k + 1]),
                     kernel.swap(k), reference::swap_acceptance(targets[k], targets[k + 1]),
                     weight_of_pair(targets[k], targets[k + 1]));
  for (const StaleRecord& stale : kernel.stale())
    smallest.offer(stale.what + " of a record after a move or swap", stale.x, stale.y,
                   "another record's", "its own");
  return smallest.found();
}

}  // namespace

std::optional<Counterexample> check_kernels(const EnumerableModel& model, std::size_t horizon,
                                            const std::vector<double>& powers) {
  return check<gpu::PaperRules, NoInterceptor>(model, horizon, powers);
}

std::vector<Exhibit> defect_gallery(const EnumerableModel& model, const std::string& name,
                                    std::size_t horizon, const std::vector<double>& powers) {
  return {
      {"current tail sliced to the proposal's length", name,
       check<SlicedTail, NoInterceptor>(model, horizon, powers)},
      {"restart over 1..len(x) without its factor", name,
       check<RestartWithinRecord, NoInterceptor>(model, horizon, powers)},
      {"stale cache after a swap", name, check<StaleCache, NoInterceptor>(model, horizon, powers)},
      {"swap ratio with transposed powers", name,
       check<TransposedPowers, NoInterceptor>(model, horizon, powers)},
      {"tokens drawn from a top-k cut, scored as uncut", name,
       check<gpu::PaperRules, TopKInterceptor<1>>(model, horizon, powers)},
  };
}

}  // namespace tempera::lab
