// A user's own kernel on every model that RapidCheck draws: an independent proposal from the base
// law with its Metropolis–Hastings acceptance for p0^2, and without.
#include <iostream>

#include "lab/judge/enumerated_kernel.hpp"
#include "lab/judge/random_models.hpp"
#include "lab/judge/verdict.hpp"
#include "reference/kernels/power_target.hpp"

namespace {

using namespace tempera;
using lab::JudgedCase;
using lab::JudgedState;

lab::JudgedKernel independent(bool accepts) {
  return lab::enumerated(
      [accepts](const JudgedCase& judged, const JudgedState& x, gpu::Lottery& lottery) {
        const reference::FixedHorizonSpace space(judged.model(), judged.horizon());
        const reference::Law base = reference::base_law(space);
        const std::size_t from = judged.find(x).value();
        const std::size_t to = lab::draw_from(lottery, base);
        const reference::Rational ratio = base[to] / base[from];
        if (accepts && ratio < 1 && !lab::happens(lottery, ratio)) return x;
        return judged.state(to);
      });
}

bool is_sound(const reference::FiniteModel& model, bool accepts) {
  return lab::judge_kernel(independent(accepts), JudgedCase(model, 2, {{reference::Power(2)}, {}}))
      .sound();
}

}  // namespace

int main() {
  bool is_always_caught = true;
  const bool holds = rc::check("the kernel with its acceptance samples p0^2", [&] {
    const auto model = *lab::random_models();
    RC_ASSERT(is_sound(model, true));
    // Where all likelihoods are alike there is nothing to accept.
    const JudgedCase judged(model, 2, {{reference::Power(2)}, {}});
    const JudgedCase base(model, 2, {{reference::Power(1)}, {}});
    if (judged.law() != base.law() && is_sound(model, false)) is_always_caught = false;
  });
  std::cout << "drawn models: the kernel " << (holds ? "holds" : "fails") << ", without acceptance "
            << (is_always_caught ? "it is caught" : "it is missed") << '\n';
  return holds && is_always_caught ? 0 : 1;
}
