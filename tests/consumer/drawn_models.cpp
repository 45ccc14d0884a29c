// A user's property test by RapidCheck: the kernel on every model that is drawn, with and without
// acceptance.
#include <iostream>
#include <tempera/rapidcheck.hpp>

#include "independent.hpp"

int main() {
  using namespace tempera;
  bool is_always_caught = true;
  const bool holds = rc::check("the kernel with its acceptance samples p0^2", [&] {
    const auto model = *check::random_models();
    const check::Case judged{model, 2, {2}};
    RC_ASSERT(check::judge(independent(true), judged).sound());
    // If all likelihoods are alike there is nothing to accept.
    if (model.power_law(2, 2) != model.power_law(2, 1) &&
        check::judge(independent(false), judged).sound())
      is_always_caught = false;
  });
  std::cout << "drawn models: the kernel " << (holds ? "holds" : "fails") << ", without acceptance "
            << (is_always_caught ? "it is caught" : "it is missed") << '\n';
  return holds && is_always_caught ? 0 : 1;
}
