#include "tests/simt/transformer/contract.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

namespace tempera::tests {

Bfloat16s random_bfloat16s(std::size_t size, float scale, std::mt19937& random) {
  std::normal_distribution<float> normal(0.0f, scale);
  Bfloat16s result(size);
  for (auto& value : result) value = gpu::to_bfloat16(normal(random));
  return result;
}

Floats random_floats(std::size_t size, float scale, std::mt19937& random) {
  std::normal_distribution<float> normal(0.0f, scale);
  Floats result(size);
  for (auto& value : result) value = normal(random);
  return result;
}

std::vector<std::uint32_t> packed_fragments(const Bfloat16s& matrix, std::size_t out,
                                            std::size_t in) {
  const std::size_t tiles = (out + 15) / 16;
  const std::size_t steps = (in + 15) / 16;
  const auto weight = [&](std::size_t output, std::size_t input) -> std::uint32_t {
    return output < out && input < in ? matrix[output * in + input] : 0;
  };
  const auto pair = [&](std::size_t output, std::size_t input) {
    return weight(output, input) | weight(output, input + 1) << 16;
  };
  std::vector<std::uint32_t> words;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t output = 16 * tile + lane / 4;
        const std::size_t input = 16 * step + 2 * (lane % 4);
        words.insert(words.end(), {pair(output, input), pair(output + 8, input),
                                   pair(output, input + 8), pair(output + 8, input + 8)});
      }
    }
  }
  return words;
}

ContractStep contract_step(gpu::Arithmetic arithmetic) {
  return gpu::takes_ampere_steps(arithmetic) ? gpu::ampere_step : gpu::hopper_step;
}

float contract_product(std::span<const std::uint16_t> weights,
                       std::span<const std::uint16_t> inputs, std::size_t segment,
                       ContractStep step) {
  float result = 0;
  for (std::size_t begin = 0; begin < weights.size(); begin += segment) {
    float chain = 0;
    for (std::size_t i = begin; i < std::min(begin + segment, weights.size()); i += 16) {
      std::uint16_t a[16] = {};
      std::uint16_t b[16] = {};
      for (std::size_t j = 0; j < 16 && i + j < weights.size(); ++j) {
        a[j] = weights[i + j];
        b[j] = inputs[i + j];
      }
      chain = step(a, b, chain);
    }
    result = begin == 0 ? chain : result + chain;
  }
  return result;
}

float contract_tree(Floats p) {
  for (std::size_t half = p.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) p[i] += p[i + half];
  }
  return p[0];
}

Floats contract_norm(std::span<const float> x, std::span<const float> weight, float epsilon,
                     std::size_t sums) {
  Floats partial(sums);
  for (std::size_t i = 0; i < x.size(); ++i) {
    partial[i % sums] = std::fma(x[i], x[i], partial[i % sums]);
  }
  const float mean = contract_tree(partial) / static_cast<float>(x.size());
  const float factor = 1.0f / std::sqrt(mean + epsilon);
  Floats result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = weight[i] * (x[i] * factor);
  return result;
}

Floats contract_rotation(const Floats& head, std::span<const float> cosines,
                         std::span<const float> sines) {
  const std::size_t half = head.size() / 2;
  Floats result(head.size());
  for (std::size_t d = 0; d < half; ++d) {
    const float low = head[d];
    const float high = head[d + half];
    result[d] = std::fma(low, cosines[d], -(high * sines[d]));
    result[d + half] = std::fma(high, cosines[d], low * sines[d]);
  }
  return result;
}

ContractHead contract_8_bits(std::span<const float> head) {
  double largest = 0;
  for (const float x : head) {
    if (!std::isfinite(x))
      return {Floats(head.size(), 0.0f), std::numeric_limits<float>::infinity()};
    largest = std::max(largest, std::fabs(static_cast<double>(x)));
  }
  int e = -126;
  while (std::nearbyint(std::ldexp(largest, -e)) > 127) ++e;
  ContractHead result{{}, std::ldexp(1.0f, e)};
  for (const float x : head) {
    const double quant = std::nearbyint(std::ldexp(static_cast<double>(x), -e));
    result.elements.push_back(static_cast<float>(quant));
  }
  return result;
}

Floats contract_attention(std::span<const float> query, const std::vector<ContractHead>& keys,
                          const std::vector<ContractHead>& values) {
  const std::size_t size = query.size();
  const float scale = 1.0f / std::sqrt(static_cast<float>(size));
  struct Split {
    float m;
    float l;
    Floats o;
  };
  std::vector<Split> splits;
  for (std::size_t begin = 0; begin < keys.size(); begin += 256) {
    const std::size_t count = std::min<std::size_t>(256, keys.size() - begin);
    Floats scores(count);
    for (std::size_t s = 0; s < count; ++s) {
      float dot = 0;
      const ContractHead& key = keys[begin + s];
      for (std::size_t d = 0; d < size; ++d) dot = std::fma(query[d], key.elements[d], dot);
      scores[s] = scale * (key.power * dot);
    }
    Split split{*std::max_element(scores.begin(), scores.end()), 0, Floats(size)};
    Floats p(256);
    for (std::size_t s = 0; s < count; ++s) p[s] = gpu::float32_exponential(scores[s] - split.m);
    split.l = contract_tree(p);
    for (std::size_t d = 0; d < size; ++d) {
      for (std::size_t run = 0; run < count; run += 32) {
        float chain = 0;
        for (std::size_t s = run; s < std::min(run + 32, count); ++s) {
          const ContractHead& value = values[begin + s];
          chain = std::fma(p[s] * value.power, value.elements[d], chain);
        }
        split.o[d] = run == 0 ? chain : split.o[d] + chain;
      }
    }
    splits.push_back(split);
  }
  float largest = -FLT_MAX;
  for (const Split& split : splits) largest = std::max(largest, split.m);
  float total = 0;
  Floats result(size);
  for (const Split& split : splits) {
    const float weight = gpu::float32_exponential(split.m - largest);
    total = std::fma(split.l, weight, total);
    for (std::size_t d = 0; d < size; ++d) result[d] = std::fma(split.o[d], weight, result[d]);
  }
  const float reciprocal = 1.0f / total;
  for (auto& value : result) value *= reciprocal;
  return result;
}

std::size_t different(std::span<const float> a, std::span<const float> b) {
  std::size_t count = a.size() == b.size() ? 0 : std::max(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    count += std::memcmp(&a[i], &b[i], sizeof(float)) != 0 ? 1 : 0;
  }
  return count;
}

std::size_t different(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b) {
  std::size_t count = a.size() == b.size() ? 0 : std::max(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

}  // namespace tempera::tests
