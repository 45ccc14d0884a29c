#pragma once

#include "bench/speed/host_limits.hpp"
#include "bench/speed/paper_runtime.hpp"

namespace tempera::gpu {

/// How fast a model decodes on the host, beside what the host can do.
struct HostSpeed {
  HostLimits limits;
  double alone_tokens_per_second = 0.0;  ///< one record, K = 1
  double full_tokens_per_second = 0.0;   ///< a full batch of records, K = 1
  /// A second of forward passes, draws left out: a full batch of records, none of which ends first.
  double pass_tokens_per_second = 0.0;
  /// Medians of the ratios of rates and limits that were measured one after the other.
  double alone_tokens_per_byte = 0.0;         ///< of one record, a byte that could be read
  double pass_tokens_per_multiply_add = 0.0;  ///< of passes, one that could be done
  double full_of_4_tokens_per_second = 0.0;   ///< a full batch of replicas, K = 4, with swaps
  double prompt_tokens_per_second = 0.0;      ///< of the prompts of a full batch
  double draw_of_a_step = 0.0;                ///< time in draws over a step's, K = 4
  double rest_of_a_run = 0.0;                 ///< time in neither passes nor draws, K = 4
};

/// Measures a model: prompts of 64 tokens, records of 32.
/// @throw BadInput if the memory has no room
HostSpeed measure_host_speed(Transformer& model);

}  // namespace tempera::gpu
