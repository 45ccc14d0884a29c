#include "gpu/llm/transformer/architectures/rope_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace tempera::gpu {

namespace {

double positive_or(const JsonObject& object, const char* key, double otherwise) {
  return object.has(key) ? object.positive_number(key) : otherwise;
}

double magnitude_of(double factor, double weight) {
  return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

}  // namespace

RopeScaling linear_scaling(const JsonObject& scaling, std::size_t rotary_dim) {
  scaling.only({"rope_type", "type", "rope_theta", "factor"});
  return {std::vector<double>(rotary_dim / 2, scaling.positive_number("factor"))};
}

RopeScaling yarn_scaling(const Yarn& yarn, double theta, std::size_t rotary_dim,
                         const std::string& where) {
  const auto size = static_cast<double>(rotary_dim);
  // The index of the frequency that turns so many times in an original text.
  const auto index = [&](double turns) {
    return size * std::log(yarn.original / (turns * 2.0 * M_PI)) / (2.0 * std::log(theta));
  };
  double low = index(yarn.beta_fast);
  double high = index(yarn.beta_slow);
  if (yarn.truncates) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, size - 1.0);
  if (!(high >= low)) {
    throw BadInput(where, "\"beta_fast\" is not above \"beta_slow\"",
                   "use the config.json that belongs to these weights");
  }
  // As transformers keeps the ramp from being a division by 0.
  if (high == low) high += 0.001;
  RopeScaling result;
  for (std::size_t d = 0; d < rotary_dim / 2; ++d) {
    const double ramp = std::clamp((static_cast<double>(d) - low) / (high - low), 0.0, 1.0);
    result.factors.push_back(1.0 / (ramp / yarn.factor + (1.0 - ramp)));
  }
  result.magnitude = magnitude_of(yarn.factor, 1.0);
  return result;
}

RopeScaling yarn_scaling(const JsonObject& scaling, double theta, std::size_t rotary_dim) {
  scaling.only({"rope_type", "type", "rope_theta", "factor", "attention_factor", "beta_fast",
                "beta_slow", "mscale", "mscale_all_dim", "original_max_position_embeddings",
                "truncate"});
  const double factor = scaling.positive_number("factor");
  auto result =
      yarn_scaling({factor, scaling.positive_number("original_max_position_embeddings"),
                    positive_or(scaling, "beta_fast", 32.0), positive_or(scaling, "beta_slow", 1.0),
                    scaling.boolean_or("truncate", true)},
                   theta, rotary_dim, scaling.where());
  if (scaling.has("attention_factor")) {
    result.magnitude = scaling.positive_number("attention_factor");
  } else if (scaling.has("mscale") && scaling.has("mscale_all_dim")) {
    result.magnitude = magnitude_of(factor, scaling.positive_number("mscale")) /
                       magnitude_of(factor, scaling.positive_number("mscale_all_dim"));
  }
  return result;
}

void set_rope(DecoderConfig& config, const RopeParameters& rope) {
  config.rope_theta = rope.theta;
  if (!rope.scaling) return;
  auto scaling = yarn_scaling(*rope.scaling, rope.theta, config.head_dim);
  config.rope_factors = std::move(scaling.factors);
  config.rope_magnitude = scaling.magnitude;
}

}  // namespace tempera::gpu
