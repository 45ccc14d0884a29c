#pragma once

#include "gpu/core/sampler/power_smc.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/heard.hpp"

namespace tempera::gpu {

/// A request of a small model, by what it costs.
struct Asked {
  std::size_t particles = 0, rungs = 1, samples = 1, rounds = 2, horizon = 8, block = 4,
              prefetch = 0;
  bool is_tokenwise = false;
};

inline SampleRequest request_of(const Asked& asked, const Share& share) {
  std::vector<double> powers;
  for (std::size_t k = 0; k < asked.rungs; ++k) powers.push_back(1.5 + static_cast<double>(k));
  SampleRequest request{
      Ladder(powers),
      {make_stages(asked.horizon, asked.block, {asked.rounds}, {1}, {1}), Schedule::adj, 0}};
  request.prompt = {2, 3};
  request.seed = 5;
  request.samples = asked.samples;
  request.options.prefetch = asked.prefetch;
  request.share = share;
  if (asked.is_tokenwise) request.sampler = tokenwise_sampling;
  if (asked.particles > 0) {
    request.sampler = power_smc<PowerSmcRules>;
    request.plan.particles = asked.particles;
  }
  return request;
}

/// Steps until all answers of a request are there.
inline std::size_t steps_to_answer(Session& session, Heard& heard, RequestId id,
                                   std::size_t samples) {
  const auto answered = [&] {
    std::size_t count = 0;
    for (const auto& [key, sample] : heard.samples)
      if (key.first == id) count += sample.answers.size();
    return count;
  };
  std::size_t steps = 0;
  for (; answered() < samples; ++steps) {
    REQUIRE(steps < 50'000);
    REQUIRE((session.step() || answered() == samples));
  }
  return steps;
}

}  // namespace tempera::gpu
