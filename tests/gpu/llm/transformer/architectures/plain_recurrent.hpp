// Qwen3.5's text model once more, as plainly as it can be written, in double, without cache and
// with one state that walks the text: what the fixture's logits are compared with besides the
// production code, and where a defect is planted to show that the comparison would see it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"

namespace tempera::gpu {

enum class RecurrentDefect {
  none,
  norm_weight_without_one,
  gated_norm_weight_with_one,
  output_gate_dropped,
  output_gate_of_another_head,
  queries_and_gates_in_halves,
  whole_heads_rotated,
  last_elements_rotated,
  convolution_backwards,
  convolution_without_silu,
  keys_not_normalised,
  queries_not_scaled,
  value_heads_take_keys_in_turn,
  decay_dropped,
  decay_after_the_write,
  strength_dropped,
  value_written_whole,
  read_before_the_write,
  decay_bias_dropped,
  gate_before_the_norm,
  memory_lost_at_checkpoints,
  convolution_lost_at_checkpoints,
  checkpoint_one_token_old,
};
constexpr auto last_recurrent_defect = RecurrentDefect::checkpoint_one_token_old;

class PlainRecurrent {
 public:
  using Vector = std::vector<double>;

  /// rounds: whether what goes into a product, its weights and keys and values are rounded to
  /// bfloat16, as under `tensor-core`.
  PlainRecurrent(const Qwen3_5Config& config, RecurrentDefect defect, bool rounds = false)
      : config_(config), defect_(defect), rounds_(rounds) {}

  /// [position][token] logits.
  std::vector<Vector> logits(const std::vector<std::uint32_t>& tokens) {
    const std::size_t hidden = config_.hidden_size;
    std::vector<Vector> states;
    const auto embedding = tensor("model.embed_tokens.weight", {config_.vocab_size, hidden});
    for (const auto token : tokens) {
      const auto row = embedding.begin() + static_cast<std::ptrdiff_t>(token * hidden);
      states.emplace_back(row, row + static_cast<std::ptrdiff_t>(hidden));
    }
    for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
      const auto prefix = "model.layers." + std::to_string(layer) + ".";
      std::vector<Vector> inputs;
      for (const auto& state : states) {
        inputs.push_back(norm(state, prefix + "input_layernorm.weight"));
      }
      const auto mixed = config_.full_attention[layer] ? attend(prefix + "self_attn.", inputs)
                                                       : recur(prefix + "linear_attn.", inputs);
      for (std::size_t t = 0; t < states.size(); ++t) {
        add(mixed[t], states[t]);
        const auto x = norm(states[t], prefix + "post_attention_layernorm.weight");
        auto gate = linear(prefix + "mlp.gate_proj.weight", config_.intermediate_size, x);
        const auto up = linear(prefix + "mlp.up_proj.weight", config_.intermediate_size, x);
        for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = silu(gate[i]) * up[i];
        add(linear(prefix + "mlp.down_proj.weight", hidden, gate), states[t]);
      }
    }
    const std::string head =
        config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
    for (auto& state : states) {
      state = linear(head, config_.vocab_size, norm(state, "model.norm.weight"));
    }
    return states;
  }

 private:
  bool has(RecurrentDefect defect) const { return defect_ == defect; }

  const std::vector<float>& tensor(const std::string& name,
                                   const std::vector<std::uint64_t>& shape) {
    auto& values = tensors_[name];
    if (values.empty()) {
      values = formula_values(name, shape);
      if (shape.size() == 2) {
        for (float& value : values) value = static_cast<float>(rounded(value));
      }
    }
    return values;
  }
  double rounded(double x) const {
    return rounds_ ? double{from_bfloat16(to_bfloat16(static_cast<float>(x)))} : x;
  }
  Vector rounded(Vector x) const {
    for (double& value : x) value = rounded(value);
    return x;
  }
  Vector linear(const std::string& name, std::size_t out, const Vector& inputs) {
    const Vector x = rounded(inputs);
    const float* weight = tensor(name, {out, x.size()}).data();
    Vector y(out);
    for (double& sum : y) {
      for (const double value : x) sum += double{*weight++} * value;
    }
    return y;
  }
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  static double silu(double x) { return x * sigmoid(x); }
  static void add(const Vector& x, Vector& to) {
    for (std::size_t i = 0; i < x.size(); ++i) to[i] += x[i];
  }
  static Vector part(const Vector& x, std::size_t begin, std::size_t size) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
  }
  static double dot(const Vector& x, const Vector& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  }

  Vector norm(const Vector& x, const std::string& name) {
    const double factor =
        1 / std::sqrt(dot(x, x) / static_cast<double>(x.size()) + config_.rms_norm_eps);
    const auto& weight = tensor(name, {x.size()});
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(x[i] * factor *
                  (has(RecurrentDefect::norm_weight_without_one) ? weight[i] : 1.0 + weight[i]));
    }
    return y;
  }
  Vector rotate(const Vector& x, std::size_t position) const {
    const bool whole = has(RecurrentDefect::whole_heads_rotated);
    const std::size_t rotary = whole ? config_.head_dim : config_.rotary_dim;
    const std::size_t begin =
        has(RecurrentDefect::last_elements_rotated) ? config_.head_dim - rotary : 0;
    Vector y = x;
    for (std::size_t d = 0; d < rotary / 2; ++d) {
      const double angle =
          static_cast<double>(position) *
          std::pow(config_.rope_theta, -2.0 * static_cast<double>(d) / static_cast<double>(rotary));
      const std::size_t low = begin + d;
      const std::size_t high = low + rotary / 2;
      y[low] = x[low] * std::cos(angle) - x[high] * std::sin(angle);
      y[high] = x[high] * std::cos(angle) + x[low] * std::sin(angle);
    }
    return y;
  }

  std::vector<Vector> attend(const std::string& prefix, const std::vector<Vector>& inputs) {
    const std::size_t size = config_.head_dim;
    const std::size_t heads = config_.num_attention_heads;
    const std::size_t groups = config_.num_key_value_heads;
    const bool halves = has(RecurrentDefect::queries_and_gates_in_halves);
    std::vector<std::vector<Vector>> keys;  // [position][group]
    std::vector<Vector> values;
    std::vector<Vector> outputs;
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      const auto both = linear(prefix + "q_proj.weight", 2 * heads * size, inputs[t]);
      const auto all_keys = linear(prefix + "k_proj.weight", groups * size, inputs[t]);
      values.push_back(rounded(linear(prefix + "v_proj.weight", groups * size, inputs[t])));
      keys.emplace_back();
      for (std::size_t group = 0; group < groups; ++group) {
        const auto key = norm(part(all_keys, group * size, size), prefix + "k_norm.weight");
        keys.back().push_back(rounded(rotate(key, t)));
      }
      Vector attended;
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t group = head / (heads / groups);
        const auto query = rotate(
            norm(part(both, (halves ? head : 2 * head) * size, size), prefix + "q_norm.weight"), t);
        const std::size_t gate_head =
            has(RecurrentDefect::output_gate_of_another_head) ? (head + 1) % heads : head;
        const auto gate = part(both, (halves ? heads + gate_head : 2 * gate_head + 1) * size, size);
        Vector masses;
        double total = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          masses.push_back(
              std::exp(dot(keys[s][group], query) / std::sqrt(static_cast<double>(size))));
          total += masses.back();
        }
        for (std::size_t d = 0; d < size; ++d) {
          double sum = 0;
          for (std::size_t s = 0; s <= t; ++s) {
            sum += masses[s] / total * values[s][group * size + d];
          }
          attended.push_back(has(RecurrentDefect::output_gate_dropped) ? sum
                                                                       : sum * sigmoid(gate[d]));
        }
      }
      outputs.push_back(linear(prefix + "o_proj.weight", config_.hidden_size, attended));
    }
    return outputs;
  }

  std::vector<Vector> recur(const std::string& prefix, const std::vector<Vector>& inputs) {
    const std::size_t key_heads = config_.linear_num_key_heads;
    const std::size_t heads = config_.linear_num_value_heads;
    const std::size_t key_dim = config_.linear_key_head_dim;
    const std::size_t value_dim = config_.linear_value_head_dim;
    const std::size_t taps = config_.linear_conv_kernel_dim;
    const std::size_t channels = 2 * key_heads * key_dim + heads * value_dim;
    const auto weight = tensor(prefix + "conv1d.weight", {channels, 1, taps});
    const auto log_rates = tensor(prefix + "A_log", {heads});
    const auto biases = tensor(prefix + "dt_bias", {heads});
    const auto norm_weight = tensor(prefix + "norm.weight", {value_dim});
    std::vector<Vector> before;                                      // the convolution's inputs
    std::vector<Vector> memory(heads, Vector(key_dim * value_dim));  // [head][key, value]
    std::vector<Vector> older = memory;
    std::vector<Vector> outputs;
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      const bool begins = t > 0 && t % 64 == 0;
      if (begins && has(RecurrentDefect::memory_lost_at_checkpoints)) {
        for (auto& s : memory) std::fill(s.begin(), s.end(), 0.0);
      }
      if (begins && has(RecurrentDefect::checkpoint_one_token_old)) memory = older;
      older = memory;
      before.push_back(linear(prefix + "in_proj_qkv.weight", channels, inputs[t]));
      const auto gates = linear(prefix + "in_proj_z.weight", heads * value_dim, inputs[t]);
      const auto strengths = linear(prefix + "in_proj_b.weight", heads, inputs[t]);
      const auto steps = linear(prefix + "in_proj_a.weight", heads, inputs[t]);
      Vector mixed(channels);
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t tap = 0; tap < taps; ++tap) {
          const std::size_t back = taps - 1 - tap;
          const std::size_t known =
              has(RecurrentDefect::convolution_lost_at_checkpoints) ? t % 64 : t;
          if (back > known) continue;
          const std::size_t at = has(RecurrentDefect::convolution_backwards) ? back : tap;
          mixed[c] += weight[c * taps + at] * before[t - back][c];
        }
        if (!has(RecurrentDefect::convolution_without_silu)) mixed[c] = silu(mixed[c]);
      }
      Vector answers;
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t key_head = has(RecurrentDefect::value_heads_take_keys_in_turn)
                                         ? head % key_heads
                                         : head / (heads / key_heads);
        auto query = unit(part(mixed, key_head * key_dim, key_dim));
        auto key = part(mixed, (key_heads + key_head) * key_dim, key_dim);
        if (!has(RecurrentDefect::keys_not_normalised)) key = unit(key);
        if (!has(RecurrentDefect::queries_not_scaled)) {
          for (double& q : query) q /= std::sqrt(static_cast<double>(key_dim));
        }
        const auto value = part(mixed, 2 * key_heads * key_dim + head * value_dim, value_dim);
        const double bias = has(RecurrentDefect::decay_bias_dropped) ? 0.0 : double{biases[head]};
        const double decay = has(RecurrentDefect::decay_dropped)
                                 ? 1.0
                                 : std::exp(-std::exp(double{log_rates[head]}) *
                                            std::log1p(std::exp(steps[head] + bias)));
        const double strength =
            has(RecurrentDefect::strength_dropped) ? 1.0 : sigmoid(strengths[head]);
        const auto output = step(query, key, value, decay, strength, memory[head]);
        add_normed(output, part(gates, head * value_dim, value_dim), norm_weight, answers);
      }
      outputs.push_back(linear(prefix + "out_proj.weight", config_.hidden_size, answers));
    }
    return outputs;
  }

  static Vector unit(const Vector& x) {
    Vector y;
    for (const double value : x) y.push_back(value / std::sqrt(dot(x, x) + 1e-6));
    return y;
  }

  /// One token of the gated delta rule on one memory, [key, value].
  Vector step(const Vector& query, const Vector& key, const Vector& value, double decay,
              double strength, Vector& memory) const {
    const std::size_t columns = value.size();
    Vector output(columns);
    const bool late = has(RecurrentDefect::decay_after_the_write);
    for (std::size_t v = 0; v < columns; ++v) {
      double answer = 0;
      double old_output = 0;
      for (std::size_t k = 0; k < key.size(); ++k) {
        double& cell = memory[k * columns + v];
        if (!late) cell *= decay;
        answer += cell * key[k];
        old_output += cell * query[k];
      }
      const double known = has(RecurrentDefect::value_written_whole) ? 0.0 : answer;
      for (std::size_t k = 0; k < key.size(); ++k) {
        double& cell = memory[k * columns + v];
        cell += key[k] * strength * (value[v] - known);
        if (late) cell *= decay;
        output[v] += cell * query[k];
      }
      if (has(RecurrentDefect::read_before_the_write)) output[v] = old_output;
    }
    return output;
  }

  void add_normed(Vector output, const Vector& gate, const std::vector<float>& weight,
                  Vector& answers) const {
    const bool gate_first = has(RecurrentDefect::gate_before_the_norm);
    if (gate_first) {
      for (std::size_t d = 0; d < output.size(); ++d) output[d] *= silu(gate[d]);
    }
    const double factor = 1 / std::sqrt(dot(output, output) / static_cast<double>(output.size()) +
                                        config_.rms_norm_eps);
    for (std::size_t d = 0; d < output.size(); ++d) {
      const double one = has(RecurrentDefect::gated_norm_weight_with_one) ? 1.0 : 0.0;
      answers.push_back((one + weight[d]) * output[d] * factor * (gate_first ? 1 : silu(gate[d])));
    }
  }

  Qwen3_5Config config_;
  RecurrentDefect defect_;
  bool rounds_;
  std::map<std::string, std::vector<float>> tensors_;
};

}  // namespace tempera::gpu
