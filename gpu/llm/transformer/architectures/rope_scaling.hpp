#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json_document.hpp"
#include "gpu/llm/transformer/architectures/decoder_config.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

/// Scaled rotary positions, as RotaryAngles has them.
struct RopeScaling {
  std::vector<double> factors;
  double magnitude = 1.0;
};

/// Every position divided by the scaling's `factor`.
RopeScaling linear_scaling(const JsonObject& scaling, std::size_t rotary_dim);

/// YaRN (Peng et al. 2023), as transformers computes it: frequencies that turn more than beta_fast
/// times in an original text are kept, those that turn less than beta_slow times are divided by
/// `factor`, and between them there is a ramp over their index.
struct Yarn {
  double factor;
  double original;  ///< tokens of an original text
  double beta_fast = 32.0;
  double beta_slow = 1.0;
  bool truncates = true;  ///< the ramp ends at whole indices
};
/// Its factors, and the magnitude that is usual for them.
/// @throw BadInput naming `where` if the ramp ends before it begins
RopeScaling yarn_scaling(const Yarn& yarn, double theta, std::size_t rotary_dim,
                         const std::string& where);
/// The same as a config.json describes it.
/// @throw BadInput naming file, key and remedy
RopeScaling yarn_scaling(const JsonObject& scaling, double theta, std::size_t rotary_dim);

/// Gives a configuration the rotary positions of whole heads, scaled by YaRN or not at all.
void set_rope(DecoderConfig& config, const RopeParameters& rope);

}  // namespace tempera::gpu
