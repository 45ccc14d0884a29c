// What a step of few rows takes on an H200, by the planner's products and by what one has shown.
#pragma once

#include <algorithm>
#include <vector>

#include "gpu/transformer/kernels/cuda/dense_layers.cuh"
#include "gpu/transformer/kernels/cuda/product_plan.hpp"

namespace tempera::tests {

/// The sizes of a dense decoder. Each of its layers has keys and values of 4 KiB a token.
struct StepSizes {
  unsigned hidden, projected, attended, inner, vocabulary;
  unsigned layers = 36;
};

struct PredictedStep {
  double floor;     ///< µs in which weights and pages come at the measured bandwidth
  double separate;  ///< µs of a step with a kernel for each part of a layer
  double joined;    ///< µs of one with a kernel for all layers
};

/// Rows: at most 4, each after `context` tokens.
inline PredictedStep predicted_step(const StepSizes& of, unsigned rows, unsigned context) {
  // Measured on an H200: bytes a microsecond from memory, and within a product by the planner's
  // fit.
  constexpr double bandwidth = 4.43e6;
  constexpr double streaming = 4.0e6;
  constexpr double cache = 5.5e6;  // an estimate: from the second-level cache
  constexpr double launch = 3.7;   // the planner's, of a kernel's beginning and end
  // An estimate: blocks that leave a phase, and the first inputs of the next one.
  constexpr double meeting = 2.2;
  // Of attention without what its bytes take: fitted to the measured step of 8B at B = 1. Keys that
  // are asked for before blocks have met save the second.
  constexpr double attention_waits = 11.0;
  constexpr double keys_early = 3.0;
  constexpr double rest = 50.0;  // of a step: its beginning, the embedding, the norm, the draw
  constexpr unsigned multiprocessors = 132;
  struct Product {
    unsigned in, out;
    bool gated;
  };
  const auto bytes = [](const Product& p) { return 2.0 * p.in * p.out * (p.gated ? 2 : 1); };
  const auto time = [&](const Product& p, unsigned least_blocks = 1) {
    const auto plan = gpu::plan_product(rows, p.in, p.out, p.out / 16 * (p.gated ? 2 : 1), p.gated,
                                        {multiprocessors, 227 * 1024, true, least_blocks});
    return gpu::predicted_nanoseconds(plan, p.gated, multiprocessors) / 1000;
  };
  const Product query_key_value{of.hidden, of.projected, false};
  const Product output{of.attended, of.hidden, false};
  const Product gate_up{of.hidden, of.inner, true};
  const Product down{of.inner, of.hidden, false};
  const Product head{of.hidden, of.vocabulary, false};
  const double page_bytes = 4096.0 * rows * context;
  const double attention = attention_waits + page_bytes / (0.8 * bandwidth);

  PredictedStep step{};
  double weights = bytes(head);
  double products = 0;
  double in_phases = 0;
  for (const Product& p : {query_key_value, output, gate_up, down}) {
    weights += of.layers * bytes(p);
    products += time(p);
    in_phases += time(p, gpu::product_blocks_together) - launch;
  }
  step.floor = (weights + of.layers * page_bytes) / bandwidth;
  const double outside = time(head) + rest;
  step.separate = of.layers * (products + attention + launch) + outside;
  // What is asked for ahead comes while memory would wait: steps of 512 bytes, of each warp.
  constexpr unsigned warps = gpu::product_blocks_together * multiprocessors * gpu::product_warps;
  constexpr double ahead = gpu::steps_ahead * 512.0 * warps / streaming;
  const double hidden_in_meeting = std::min(ahead, meeting + 1.0);
  const double from_cache = bytes(output) / cache;  // all of it is there when attention ends
  const double output_saves =
      std::max(0.0, time(output, gpu::product_blocks_together) - launch - from_cache);
  const double saved =
      hidden_in_meeting + output_saves + (ahead + hidden_in_meeting) + hidden_in_meeting;
  step.joined = of.layers * (in_phases + 5 * meeting + attention - keys_early - saved) + outside;
  return step;
}

}  // namespace tempera::tests
