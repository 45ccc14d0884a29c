// The `tensor-core` arithmetic of docs/reference/arithmetic.md once more, sequence by sequence and
// without cache, pages, tiles or vectors: what the kernels are compared with bit for bit, and where
// a defect is planted to show that the comparison would see it. Only one step of the tensor core
// (gpu/device/tensor_core.hpp, which has golden vectors) and the exponential are production's.
#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

namespace tempera::gpu {

/// Weights of 24 bits by name, which stay to be read.
class KeptTensors final : public TensorSource {
 public:
  explicit KeptTensors(std::uint64_t seed) : seed_(seed) {}

  const std::vector<float>& values(const std::string& name) const { return values_.at(name); }
  bool has(const std::string& name) const { return values_.contains(name); }

 private:
  const StoredTensor& tensor(const std::string& name, const Shape& shape) override {
    for (const StoredTensor& kept : tensors_) {
      if (kept.name == name) return kept;
    }
    std::size_t size = 1;
    for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
    auto& values = values_[name];
    const bool is_vector = shape.size() == 1;
    const float scale = is_vector ? 0.5f : 1.7f / std::sqrt(static_cast<float>(shape[1]));
    for (std::size_t i = 0; i < size; ++i) {
      seed_ = seed_ * 6364136223846793005ULL + 1442695040888963407ULL;
      const float unit =
          static_cast<float>(static_cast<std::int64_t>(seed_ >> 40) - (1 << 23)) * 0x1p-23f;
      values.push_back((is_vector ? 1.0f : 0.0f) + scale * unit);
    }
    return tensors_.emplace_back(
        StoredTensor{name, "F32", shape, std::as_bytes(std::span<const float>(values)), "kept"});
  }

  std::uint64_t seed_;
  std::map<std::string, std::vector<float>> values_;
  std::list<StoredTensor> tensors_;
};

/// A head rotated to its position, each element by one fused multiply-add.
inline std::vector<float> rotated_by_fma(const std::vector<float>& y, std::size_t position,
                                         double theta) {
  const std::size_t half = y.size() / 2;
  std::vector<float> z(y.size());
  for (std::size_t d = 0; d < half; ++d) {
    const double angle = static_cast<double>(position) *
                         std::pow(theta, -static_cast<double>(d) / static_cast<double>(half));
    const auto cosine = static_cast<float>(std::cos(angle));
    const auto sine = static_cast<float>(std::sin(angle));
    z[d] = std::fma(y[d], cosine, -(y[d + half] * sine));
    z[d + half] = std::fma(y[d + half], cosine, y[d] * sine);
  }
  return z;
}

enum class TensorCoreDefect {
  none,
  ampere_step,
  segments_joined,
  segment_boundary_moved,
  head_norm_in_16_sums,
  keys_not_rounded,
  score_scaled_first,
  splits_of_128,
  split_scaled_by_its_last,
  value_runs_joined,
  mass_summed_in_order,
  divided_by_the_mass,
  stream_rounded,
};

class PlainTensorCore {
 public:
  using Vector = std::vector<float>;

  PlainTensorCore(const DecoderConfig& config, const KeptTensors& tensors,
                  TensorCoreDefect defect = TensorCoreDefect::none)
      : config_(config), tensors_(tensors), defect_(defect) {}
  virtual ~PlainTensorCore() = default;

  /// [position][token] logits.
  std::vector<Vector> logits(const std::vector<std::uint32_t>& tokens) const {
    std::vector<Vector> states;
    for (const auto token : tokens) {
      const auto& embedding = tensors_.values("model.embed_tokens.weight");
      Vector state;
      for (std::size_t i = 0; i < config_.hidden_size; ++i) {
        state.push_back(bf16(embedding.at(token * config_.hidden_size + i)));
      }
      states.push_back(state);
    }
    for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
      const auto prefix = "model.layers." + std::to_string(layer) + ".";
      attend(prefix, states);
      for (auto& state : states) feed_forward(prefix, state);
    }
    const auto* head = config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
    for (auto& state : states) state = product(head, rounded(norm(state, "model.norm.weight")));
    return states;
  }

  /// [position][heads · head_dim]: rotated queries, and what they see.
  struct Attention {
    std::vector<Vector> queries;
    std::vector<Vector> attended;
  };
  /// From the three products of every position.
  Attention attention(const std::string& prefix, const std::vector<Vector>& queries,
                      const std::vector<Vector>& keys, const std::vector<Vector>& values) const {
    const std::size_t size = config_.head_dim;
    const std::size_t groups = config_.num_key_value_heads;
    std::vector<std::vector<Vector>> kept_keys;  // [position][head]
    std::vector<Vector> kept_values;             // [position], all heads
    Attention result;
    for (std::size_t position = 0; position < queries.size(); ++position) {
      kept_values.push_back(rounded(values[position]));
      kept_keys.emplace_back();
      for (std::size_t head = 0; head < groups; ++head) {
        const auto key =
            rotated_head(keys[position], head * size, position, prefix + "self_attn.k_norm.weight");
        kept_keys.back().push_back(defect_ == Defect::keys_not_rounded ? key : rounded(key));
      }
      result.queries.emplace_back();
      result.attended.emplace_back();
      for (std::size_t head = 0; head < config_.num_attention_heads; ++head) {
        const auto query = rotated_head(queries[position], head * size, position,
                                        prefix + "self_attn.q_norm.weight");
        append(query, result.queries.back());
        const std::size_t group = head / (config_.num_attention_heads / groups);
        append(rounded(attended_head(query, kept_keys, kept_values, group)),
               result.attended.back());
      }
    }
    return result;
  }

 protected:
  using Defect = TensorCoreDefect;

  static void append(const Vector& more, Vector& to) {
    to.insert(to.end(), more.begin(), more.end());
  }

  static float bf16(float x) { return from_bfloat16(to_bfloat16(x)); }
  static Vector rounded(Vector x) {
    for (float& value : x) value = bf16(value);
    return x;
  }

  /// Segments of 512 inputs, each a chain of steps, the segments added in order.
  virtual Vector product(const std::string& name, const Vector& x) const {
    const auto& weights = tensors_.values(name);
    const std::size_t in = x.size();
    const std::size_t segment = defect_ == Defect::segments_joined          ? in
                                : defect_ == Defect::segment_boundary_moved ? 496
                                                                            : 512;
    Vector y;
    for (std::size_t o = 0; o < weights.size() / in; ++o) {
      float total = 0.0f;
      for (std::size_t begin = 0; begin < in; begin += segment) {
        const std::size_t end = std::min(in, begin + segment);
        float sum = 0.0f;
        for (std::size_t first = begin; first < end; first += 16) {
          std::uint16_t a[16] = {};
          std::uint16_t b[16] = {};
          for (std::size_t i = first; i < std::min(end, first + 16); ++i) {
            a[i - first] = to_bfloat16(weights[o * in + i]);
            b[i - first] = to_bfloat16(x[i]);
          }
          sum = defect_ == Defect::ampere_step ? ampere_step(a, b, sum) : hopper_step(a, b, sum);
        }
        total = begin == 0 ? sum : total + sum;
      }
      y.push_back(total);
    }
    return y;
  }

  static float tree(Vector partial) {
    for (std::size_t half = partial.size() / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
    }
    return partial[0];
  }
  Vector norm_in(std::size_t sums, const Vector& x, const std::string& name) const {
    Vector partial(sums, 0.0f);
    for (std::size_t i = 0; i < x.size(); ++i) {
      partial[i % sums] = std::fma(x[i], x[i], partial[i % sums]);
    }
    const auto epsilon = static_cast<float>(config_.rms_norm_eps);
    const float factor = 1.0f / std::sqrt(tree(partial) / static_cast<float>(x.size()) + epsilon);
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(tensors_.values(name)[i] * (x[i] * factor));
    }
    return y;
  }
  Vector norm(const Vector& x, const std::string& name) const { return norm_in(256, x, name); }
  Vector rotated_head(const Vector& x, std::size_t begin, std::size_t position,
                      const std::string& name) const {
    const Vector head(x.begin() + static_cast<std::ptrdiff_t>(begin),
                      x.begin() + static_cast<std::ptrdiff_t>(begin + config_.head_dim));
    return rotated_by_fma(norm_in(defect_ == Defect::head_norm_in_16_sums ? 16 : 32, head, name),
                          position, config_.rope_theta);
  }

  void attend(const std::string& prefix, std::vector<Vector>& states) const {
    std::vector<Vector> queries;
    std::vector<Vector> keys;
    std::vector<Vector> values;
    for (const auto& state : states) {
      const auto x = rounded(norm(state, prefix + "input_layernorm.weight"));
      queries.push_back(product(prefix + "self_attn.q_proj.weight", x));
      keys.push_back(product(prefix + "self_attn.k_proj.weight", x));
      values.push_back(product(prefix + "self_attn.v_proj.weight", x));
    }
    const auto attended = attention(prefix, queries, keys, values).attended;
    for (std::size_t position = 0; position < states.size(); ++position) {
      add(product(prefix + "self_attn.o_proj.weight", attended[position]), states[position]);
    }
  }

  struct Split {
    float largest = 0;
    float mass = 0;
    Vector sums;
  };

  virtual Vector attended_head(const Vector& query, const std::vector<std::vector<Vector>>& keys,
                               const std::vector<Vector>& values, std::size_t group) const {
    const std::size_t width = defect_ == Defect::splits_of_128 ? 128 : 256;
    const float scale = 1.0f / std::sqrt(static_cast<float>(query.size()));
    std::vector<Split> splits;
    for (std::size_t begin = 0; begin < keys.size(); begin += width) {
      const std::size_t end = std::min(keys.size(), begin + width);
      Vector scores;
      for (std::size_t s = begin; s < end; ++s) {
        float dot = 0.0f;
        for (std::size_t d = 0; d < query.size(); ++d) {
          const float q = defect_ == Defect::score_scaled_first ? query[d] * scale : query[d];
          dot = std::fma(q, keys[s][group][d], dot);
        }
        scores.push_back(defect_ == Defect::score_scaled_first ? dot : scale * dot);
      }
      Split split;
      split.largest = defect_ == Defect::split_scaled_by_its_last
                          ? scores.back()
                          : *std::max_element(scores.begin(), scores.end());
      Vector shares(256, 0.0f);
      for (std::size_t s = 0; s < scores.size(); ++s) {
        shares[s] = float32_exponential(scores[s] - split.largest);
      }
      split.mass = tree(shares);
      if (defect_ == Defect::mass_summed_in_order) {
        split.mass = 0.0f;
        for (const float share : shares) split.mass += share;
      }
      const std::size_t run = defect_ == Defect::value_runs_joined ? width : 32;
      for (std::size_t d = 0; d < query.size(); ++d) {
        float total = 0.0f;
        for (std::size_t first = 0; first < scores.size(); first += run) {
          float sum = 0.0f;
          for (std::size_t s = first; s < std::min(scores.size(), first + run); ++s) {
            sum = std::fma(shares[s], values[begin + s][group * query.size() + d], sum);
          }
          total = first == 0 ? sum : total + sum;
        }
        split.sums.push_back(total);
      }
      splits.push_back(split);
    }
    float largest = splits[0].largest;
    for (const auto& split : splits) largest = std::max(largest, split.largest);
    float mass = 0.0f;
    Vector sums(query.size(), 0.0f);
    for (const auto& split : splits) {
      const float weight = float32_exponential(split.largest - largest);
      mass = std::fma(split.mass, weight, mass);
      for (std::size_t d = 0; d < sums.size(); ++d) {
        sums[d] = std::fma(split.sums[d], weight, sums[d]);
      }
    }
    for (float& sum : sums) {
      sum = defect_ == Defect::divided_by_the_mass ? sum / mass : sum * (1.0f / mass);
    }
    return sums;
  }

  void feed_forward(const std::string& prefix, Vector& state) const {
    const auto x = rounded(norm(state, prefix + "post_attention_layernorm.weight"));
    auto gate = product(prefix + "mlp.gate_proj.weight", x);
    const auto up = product(prefix + "mlp.up_proj.weight", x);
    for (std::size_t i = 0; i < gate.size(); ++i) {
      gate[i] = bf16(gate[i] / (1.0f + float32_exponential(-gate[i])) * up[i]);
    }
    add(product(prefix + "mlp.down_proj.weight", gate), state);
  }
  void add(const Vector& y, Vector& state) const {
    for (std::size_t i = 0; i < y.size(); ++i) {
      state[i] += y[i];
      if (defect_ == Defect::stream_rounded) state[i] = bf16(state[i]);
    }
  }

  DecoderConfig config_;
  const KeptTensors& tensors_;
  TensorCoreDefect defect_;
};

}  // namespace tempera::gpu
