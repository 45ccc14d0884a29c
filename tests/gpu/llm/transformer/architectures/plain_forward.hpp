// The architecture once more, as plainly as it can be written, in double and without cache: what
// the golden logits are compared with besides the production code, and where a defect is planted to
// show that the comparison would see it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/weights/safetensors.hpp"

namespace tempera::gpu {

enum class Defect {
  none,
  query_norm_dropped,
  key_norm_dropped,
  norm_weight_ignored,
  final_norm_dropped,
  keys_rotated_one_position_late,
  neighbours_rotated_together,
  heads_share_keys_in_turn,
  attention_not_scaled,
  own_token_not_attended,
  gate_and_up_exchanged,
  residual_dropped,
};

class PlainForward {
 public:
  using Vector = std::vector<double>;

  PlainForward(const DecoderConfig& config, const TensorFiles& files, Defect defect)
      : config_(config), files_(files), defect_(defect) {}

  /// [position][token] logits.
  std::vector<Vector> logits(const std::vector<std::uint32_t>& tokens) const {
    const auto embedding = matrix("model.embed_tokens.weight");
    std::vector<Vector> states;
    for (const auto token : tokens) states.push_back(embedding.at(token));
    for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
      const auto prefix = "model.layers." + std::to_string(layer) + ".";
      attend(prefix, states);
      for (auto& state : states) feed_forward(prefix, state);
    }
    const auto head = config_.tie_word_embeddings ? embedding : matrix("lm_head.weight");
    for (auto& state : states) {
      if (defect_ != Defect::final_norm_dropped) state = norm(state, "model.norm.weight");
      state = product(head, state);
    }
    return states;
  }

 private:
  using Matrix = std::vector<Vector>;

  Vector values(const std::string& name) const {
    const auto& tensor = files_.tensors().at(name);
    const std::size_t size = tensor.dtype == "BF16" ? 2 : 4;
    Vector result;
    for (std::size_t begin = 0; begin < tensor.bytes.size(); begin += size) {
      std::uint32_t bits = 0;  // a bfloat16 is the upper half of a float
      std::memcpy(reinterpret_cast<char*>(&bits) + 4 - size, tensor.bytes.data() + begin, size);
      float value = 0;
      std::memcpy(&value, &bits, 4);
      result.push_back(value);
    }
    return result;
  }
  Matrix matrix(const std::string& name) const {
    const auto flat = values(name);
    const auto columns = static_cast<std::ptrdiff_t>(files_.tensors().at(name).shape.at(1));
    Matrix rows;
    for (auto row = flat.begin(); row != flat.end(); row += columns) {
      rows.emplace_back(row, row + columns);
    }
    return rows;
  }
  static Vector product(const Matrix& matrix, const Vector& x) {
    Vector y;
    for (const auto& row : matrix) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += row[i] * x[i];
      y.push_back(sum);
    }
    return y;
  }
  Vector norm(const Vector& x, const std::string& name) const {
    const auto weight = values(name);
    double squares = 0;
    for (const double v : x) squares += v * v;
    const double factor =
        1 / std::sqrt(squares / static_cast<double>(x.size()) + config_.rms_norm_eps);
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(x[i] * factor * (defect_ == Defect::norm_weight_ignored ? 1 : weight[i]));
    }
    return y;
  }
  Vector rotate(const Vector& x, std::size_t position) const {
    const std::size_t half = config_.head_dim / 2;
    Vector y = x;
    for (std::size_t d = 0; d < half; ++d) {
      const bool pairs = defect_ == Defect::neighbours_rotated_together;
      const std::size_t low = pairs ? 2 * d : d;
      const std::size_t high = pairs ? 2 * d + 1 : d + half;
      const double angle =
          static_cast<double>(position) *
          std::pow(config_.rope_theta, -static_cast<double>(d) / static_cast<double>(half));
      y[low] = x[low] * std::cos(angle) - x[high] * std::sin(angle);
      y[high] = x[high] * std::cos(angle) + x[low] * std::sin(angle);
    }
    return y;
  }
  Vector head_of(const Vector& x, std::size_t head) const {
    const auto size = static_cast<std::ptrdiff_t>(config_.head_dim);
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(head) * size;
    return {begin, begin + size};
  }

  void attend(const std::string& prefix, std::vector<Vector>& states) const {
    const auto query_matrix = matrix(prefix + "self_attn.q_proj.weight");
    const auto key_matrix = matrix(prefix + "self_attn.k_proj.weight");
    const auto value_matrix = matrix(prefix + "self_attn.v_proj.weight");
    const auto output_matrix = matrix(prefix + "self_attn.o_proj.weight");
    const std::size_t groups = config_.num_key_value_heads;
    std::vector<std::vector<Vector>> keys;  // [position][head]
    std::vector<Vector> values_of;
    for (std::size_t position = 0; position < states.size(); ++position) {
      const auto x = norm(states[position], prefix + "input_layernorm.weight");
      const auto queries = product(query_matrix, x);
      const auto all_keys = product(key_matrix, x);
      values_of.push_back(product(value_matrix, x));
      keys.emplace_back();
      for (std::size_t head = 0; head < groups; ++head) {
        auto key = head_of(all_keys, head);
        if (defect_ != Defect::key_norm_dropped)
          key = norm(key, prefix + "self_attn.k_norm.weight");
        const bool late = defect_ == Defect::keys_rotated_one_position_late;
        keys.back().push_back(rotate(key, position + (late ? 1 : 0)));
      }
      Vector attended;
      for (std::size_t head = 0; head < config_.num_attention_heads; ++head) {
        const std::size_t group = defect_ == Defect::heads_share_keys_in_turn
                                      ? head % groups
                                      : head / (config_.num_attention_heads / groups);
        auto query = head_of(queries, head);
        if (defect_ != Defect::query_norm_dropped) {
          query = norm(query, prefix + "self_attn.q_norm.weight");
        }
        query = rotate(query, position);
        const double scale = defect_ == Defect::attention_not_scaled
                                 ? 1
                                 : 1 / std::sqrt(static_cast<double>(config_.head_dim));
        const std::size_t context =
            defect_ == Defect::own_token_not_attended && position > 0 ? position : position + 1;
        Vector masses;
        double total = 0;
        for (std::size_t s = 0; s < context; ++s) {
          masses.push_back(std::exp(scale * product({keys[s][group]}, query)[0]));
          total += masses.back();
        }
        for (std::size_t d = 0; d < config_.head_dim; ++d) {
          double sum = 0;
          for (std::size_t s = 0; s < context; ++s) {
            sum += masses[s] / total * values_of[s][group * config_.head_dim + d];
          }
          attended.push_back(sum);
        }
      }
      add(product(output_matrix, attended), states[position]);
    }
  }

  void feed_forward(const std::string& prefix, Vector& state) const {
    const auto x = norm(state, prefix + "post_attention_layernorm.weight");
    auto gate = product(matrix(prefix + "mlp.gate_proj.weight"), x);
    auto up = product(matrix(prefix + "mlp.up_proj.weight"), x);
    if (defect_ == Defect::gate_and_up_exchanged) std::swap(gate, up);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
    if (defect_ == Defect::residual_dropped) std::fill(state.begin(), state.end(), 0.0);
    add(product(matrix(prefix + "mlp.down_proj.weight"), gate), state);
  }
  static void add(const Vector& x, Vector& to) {
    for (std::size_t i = 0; i < x.size(); ++i) to[i] += x[i];
  }

  DecoderConfig config_;
  const TensorFiles& files_;
  Defect defect_;
};

}  // namespace tempera::gpu
