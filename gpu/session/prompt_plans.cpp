#include "gpu/session/prompt_plans.hpp"

#include <string>

namespace tempera::gpu {

PromptPlans::PromptPlans(const Plan& plan, std::span<const Prompt> prompts) : plan_(plan) {
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    const auto& horizon = prompts[p].horizon;
    if (horizon && !cut_.contains(*horizon))
      cut_.emplace(*horizon, cut_at(plan, *horizon, "prompt " + std::to_string(p + 1)));
  }
}

}  // namespace tempera::gpu
