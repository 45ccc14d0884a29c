#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "gpu/core/sampler/stages.hpp"
#include "gpu/session/prompt.hpp"

namespace tempera::gpu {

/// The plans of a run's prompts: the run's, and of prompts with a horizon of their own the same cut
/// at that (cut_at). What a prompt's plan is depends on no other prompt.
class PromptPlans {
 public:
  /// @throw BadInput naming the prompt by its place, from 1, as cut_at
  PromptPlans(const Plan& plan, std::span<const Prompt> prompts);

  const Plan& of(const Prompt& prompt) const {
    return prompt.horizon ? cut_.at(*prompt.horizon) : plan_;
  }

 private:
  Plan plan_;
  std::map<std::size_t, Plan> cut_;  // by their horizon: most prompts share the run's
};

}  // namespace tempera::gpu
