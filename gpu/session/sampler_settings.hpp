#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/session/named_sampler.hpp"
#include "gpu/session/sample_request.hpp"

namespace tempera::gpu {

/// Which sampler draws, and all that it is asked for, resolved: no field is open any more. A
/// request and the config.json of a run folder are made from it.
struct SamplerSettings {
  std::string sampler{default_sampler};  ///< by its name, as sampler_named knows it
  std::vector<double> powers;            ///< α_1 < … < α_K
  std::size_t horizon = 0;               ///< T of prompts without one of their own
  std::size_t block = 0;                 ///< B
  std::vector<std::size_t> rounds;       ///< N_m: one number for all stages, or one for each
  std::vector<std::size_t> local_moves;  ///< n_local,m, likewise
  std::vector<std::size_t> sweeps;       ///< n_sweep,m, likewise
  Schedule schedule = Schedule::adj;
  std::vector<std::uint64_t> restart_weights;  ///< as Plan's; none: uniform
  RestartRange restart_range = RestartRange::horizon;
  std::size_t output = 0;       ///< output rung k*, from 1 as in the paper
  std::size_t particles = 0;    ///< N of a sampler of particles; else 0
  std::size_t most_tokens = 0;  ///< as Plan's; 0: any number
  std::size_t samples = 1;      ///< independent answers to each prompt
  std::uint64_t seed = 0;
  std::vector<std::string> stop;  ///< as SampleRequest::stop
  ChainOptions options;
  std::string preset;  ///< whose values those are that were left open; may be empty

  /// The schedule of Algorithm 1 at the horizon T.
  /// @throw BadInput for a sampler that is unknown or takes no such powers, particles or restarts,
  /// and for a ladder, stages, restart weights, output rung or number of samples that make no run
  Plan plan() const;
  /// The request of one prompt. Its own horizon, if it has one, is at most T (cut_at).
  /// @throw BadInput as plan, and naming `where` as cut_at
  SampleRequest request(std::vector<TokenId> prompt, PromptNumber number,
                        std::optional<std::size_t> own_horizon, std::vector<TokenId> terminal,
                        const std::string& where) const;

 private:
  void check_sampler() const;
};

}  // namespace tempera::gpu
