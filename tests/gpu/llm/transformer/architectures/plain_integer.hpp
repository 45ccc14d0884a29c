// The arithmetic `integer` of docs/reference/arithmetic.md once more, naively, with sums of 64
// bits. Only the exponential is production's.
#pragma once

#include <map>
#include <optional>

#include "tests/gpu/device/naive_whole.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_tensor_core.hpp"

namespace tempera::gpu {

enum class IntegerDefect {
  none,
  ties_away_from_zero,
  one_exponent_less,
  weights_as_inputs,
  one_exponent_a_row,
  segments_added_backwards,
  values_with_a_norm,
  norm_of_floats,
  shares_of_14_bits,
  shares_divided_by_their_float_sum,
  values_exponents_ignored,
  splits_of_128,
  embedding_of_whole_numbers,
  window_of_one_less,
  windows_in_every_layer,
  sinks_left_out,
  sinks_of_the_next_heads,
  branch_norm_of_floats,
};

/// The norms of Qwen3, or whatever others the tensors of a model say by their names: of a block's
/// input or output, of each head or of all queries and all keys of a token. Layers may have
/// windows, and heads sinks.

class PlainInteger {
 public:
  using Vector = std::vector<float>;
  using Defect = IntegerDefect;

  PlainInteger(const DecoderConfig& config, const KeptTensors& tensors,
               Defect defect = Defect::none)
      : config_(config), tensors_(tensors), defect_(defect) {}

  using Whole = NaiveWhole;
  Whole whole(const Vector& x, std::uint64_t most_squares) const {
    Whole row = naive_whole(x, most_squares, defect_ == Defect::ties_away_from_zero);
    if (defect_ != Defect::one_exponent_less) return row;
    --row.exponent;
    for (std::size_t i = 0; i < x.size(); ++i) {
      row.numbers[i] = static_cast<std::int64_t>(
          std::nearbyint(std::ldexp(static_cast<double>(x[i]), row.exponent)));
    }
    return row;
  }
  Whole input(const Vector& x) const { return whole(x, 0xFFFFFFFFU); }
  Whole weight(const Vector& x) const {
    return whole(x, defect_ == Defect::weights_as_inputs ? 0xFFFFFFFFU : (1U << 30) - 1);
  }

  /// [position][token] logits.
  std::vector<Vector> logits(const std::vector<std::uint32_t>& tokens) const {
    std::vector<Vector> states;
    const auto& embedding = tensors_.values("model.embed_tokens.weight");
    for (const auto token : tokens) {
      states.push_back(part(embedding, token * config_.hidden_size, config_.hidden_size));
      if (defect_ != Defect::embedding_of_whole_numbers) continue;
      const Whole row = weight(states.back());
      for (std::size_t i = 0; i < row.numbers.size(); ++i) {
        states.back()[i] = std::ldexp(static_cast<float>(row.numbers[i]), -row.exponent);
      }
    }
    for (std::size_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
      const auto prefix = "model.layers." + std::to_string(layer) + ".";
      attend(prefix, window_of(layer), states);
      for (auto& state : states) feed_forward(prefix, state);
    }
    const auto* head = config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
    for (auto& state : states) state = product(head, norm(state, "model.norm.weight"));
    return states;
  }

 private:
  static Vector part(const Vector& x, std::size_t begin, std::size_t size) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
  }
  static void add(const Vector& x, Vector& to) {
    for (std::size_t i = 0; i < x.size(); ++i) to[i] += x[i];
  }
  Vector product(const std::string& name, const Vector& x) const {
    const auto& weights = tensors_.values(name);
    const std::size_t in = x.size();
    const std::size_t most = defect_ == Defect::one_exponent_a_row ? in : 512;
    Vector y;
    for (std::size_t o = 0; o < weights.size() / in; ++o) {
      Vector segments;
      for (std::size_t begin = 0; begin < in; begin += most) {
        const std::size_t size = std::min(in - begin, most);
        segments.push_back(
            naive_dot(input(part(x, begin, size)), weight(part(weights, o * in + begin, size))));
      }
      if (defect_ == Defect::segments_added_backwards)
        std::reverse(segments.begin(), segments.end());
      float sum = segments[0];
      for (std::size_t i = 1; i < segments.size(); ++i) sum += segments[i];
      y.push_back(sum);
    }
    return y;
  }

  /// Tokens up to its own that a token sees in a layer; 0: all.
  std::size_t window_of(std::size_t layer) const {
    if (config_.layer_attention.empty()) return 0;
    std::size_t window = config_.layer_attention[layer].window;
    if (defect_ == Defect::windows_in_every_layer) {
      for (const auto& other : config_.layer_attention) window = std::max(window, other.window);
    }
    return window - (defect_ == Defect::window_of_one_less && window > 1 ? 1 : 0);
  }

  std::optional<float> sink_of(const std::string& prefix, std::size_t head) const {
    const std::string name = prefix + "self_attn.sinks";
    if (!tensors_.has(name) || defect_ == Defect::sinks_left_out) return std::nullopt;
    const bool next = defect_ == Defect::sinks_of_the_next_heads;
    return tensors_.values(name)[(head + (next ? 1 : 0)) % config_.num_attention_heads];
  }

  /// The input of a block.
  Vector input_of(const Vector& state, const std::string& name) const {
    return tensors_.has(name) ? norm(state, name) : state;
  }
  /// Adds the output of a block to the stream.
  void add_output(const Vector& x, const std::string& name, Vector& state) const {
    add(tensors_.has(name) ? norm(x, name, defect_ == Defect::branch_norm_of_floats) : x, state);
  }

  Vector norm(const Vector& x, const std::string& name, bool of_floats = false) const {
    const Whole row = input(x);
    std::uint64_t squares = 0;
    for (const auto number : row.numbers) squares += static_cast<std::uint64_t>(number * number);
    float sum = std::ldexp(static_cast<float>(squares), -2 * row.exponent);
    if (of_floats || defect_ == Defect::norm_of_floats) {
      sum = 0.0f;
      for (const float value : x) sum = std::fma(value, value, sum);
    }
    const float mean = sum / static_cast<float>(x.size());
    const float factor = 1.0f / std::sqrt(mean + static_cast<float>(config_.rms_norm_eps));
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(tensors_.values(name)[i] * (x[i] * factor));
    }
    return y;
  }

  /// The queries or the keys of a token through the norm of them all, if there is one.
  Vector projected(const std::string& matrix, const std::string& norm_name, const Vector& x) const {
    auto y = product(matrix, x);
    return tensors_.values(norm_name).size() == y.size() ? norm(y, norm_name) : y;
  }
  Vector rotated_head(const Vector& x, std::size_t begin, std::size_t position,
                      const std::string& name) const {
    auto head = part(x, begin, config_.head_dim);
    if (tensors_.values(name).size() != x.size()) head = norm(head, name);
    return rotated_by_fma(head, position, config_.rope_theta);
  }

  void attend(const std::string& prefix, std::size_t window, std::vector<Vector>& states) const {
    const std::size_t size = config_.head_dim;
    const std::size_t groups = config_.num_key_value_heads;
    std::vector<std::vector<Whole>> keys(groups);  // [head][position]
    std::vector<std::vector<Whole>> values(groups);
    for (std::size_t position = 0; position < states.size(); ++position) {
      const auto x = input_of(states[position], prefix + "input_layernorm.weight");
      const auto query =
          projected(prefix + "self_attn.q_proj.weight", prefix + "self_attn.q_norm.weight", x);
      const auto key =
          projected(prefix + "self_attn.k_proj.weight", prefix + "self_attn.k_norm.weight", x);
      const auto value = product(prefix + "self_attn.v_proj.weight", x);
      for (std::size_t head = 0; head < groups; ++head) {
        keys[head].push_back(
            weight(rotated_head(key, head * size, position, prefix + "self_attn.k_norm.weight")));
        values[head].push_back(
            whole(part(value, head * size, size),
                  defect_ == Defect::values_with_a_norm ? (1U << 30) - 1 : ~std::uint64_t{0}));
      }
      Vector attended;
      for (std::size_t head = 0; head < config_.num_attention_heads; ++head) {
        const Whole rotated =
            input(rotated_head(query, head * size, position, prefix + "self_attn.q_norm.weight"));
        const std::size_t group = head / (config_.num_attention_heads / groups);
        const auto of_head =
            attended_head(rotated, keys[group], values[group], window, sink_of(prefix, head));
        attended.insert(attended.end(), of_head.begin(), of_head.end());
      }
      add_output(product(prefix + "self_attn.o_proj.weight", attended),
                 is_before() ? "" : prefix + "post_attention_layernorm.weight", states[position]);
    }
  }

  /// The halves of 256 floats added until there is one.
  static float tree(Vector x) {
    for (std::size_t half = x.size() / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) x[i] += x[i + half];
    }
    return x[0];
  }
  static bool is_zero(const Whole& row) {
    return std::all_of(row.numbers.begin(), row.numbers.end(), [](auto n) { return n == 0; });
  }

  /// The last position's. sink: of the head, if it has one.
  Vector attended_head(const Whole& query, const std::vector<Whole>& keys,
                       const std::vector<Whole>& values, std::size_t window,
                       std::optional<float> sink) const {
    const std::size_t width = defect_ == Defect::splits_of_128 ? 128 : 256;
    const float scale = config_.attention_scale == 0.0
                            ? 1.0f / std::sqrt(static_cast<float>(config_.head_dim))
                            : static_cast<float>(config_.attention_scale);
    const auto is_seen = [&](std::size_t position) {
      return window == 0 || keys.size() - 1 - position < window;
    };
    Vector largest;
    Vector masses;
    std::vector<Vector> sums;
    for (std::size_t begin = 0; begin < keys.size(); begin += width) {
      const std::size_t end = std::min(keys.size(), begin + width);
      std::vector<std::size_t> seen;
      for (std::size_t i = begin; i < end; ++i) {
        if (is_seen(i)) seen.push_back(i);
      }
      if (seen.empty()) continue;
      std::map<std::size_t, float> scores;
      float most = -HUGE_VALF;
      int least = 1000;
      for (const std::size_t i : seen) {
        scores[i] = naive_dot(query, keys[i]) * scale;
        most = std::max(most, scores[i]);
        if (!is_zero(values[i])) least = std::min(least, values[i].exponent);
      }
      largest.push_back(most);
      Vector mass(256, 0.0f);
      Vector scaled(256, 0.0f);
      for (const std::size_t i : seen) {
        mass[i - begin] = float32_exponential(scores[i] - most);
        if (is_zero(values[i])) continue;
        const int down = defect_ == Defect::values_exponents_ignored
                             ? 0
                             : std::min(values[i].exponent - least, 31);
        scaled[i - begin] = std::ldexp(mass[i - begin], -down);
      }
      masses.push_back(tree(mass));
      sums.emplace_back(config_.head_dim, 0.0f);
      if (least == 1000) continue;
      const float all = tree(scaled);
      const float factor = 1.0f / all;
      const float unit = defect_ == Defect::shares_of_14_bits ? 0x1p14f : 0x1p15f;
      std::map<std::size_t, std::int64_t> shares;
      std::int64_t total = 0;
      for (const std::size_t i : seen) {
        shares[i] = std::min<std::int64_t>(
            32767, static_cast<std::int64_t>(std::nearbyint(scaled[i - begin] * factor * unit)));
        total += shares[i];
      }
      const float divisor = defect_ == Defect::shares_divided_by_their_float_sum
                                ? 0x1p15f
                                : static_cast<float>(total);
      const float to_values = std::ldexp(all / divisor, -least);
      for (std::size_t d = 0; d < config_.head_dim; ++d) {
        std::int64_t sum = 0;
        for (const std::size_t i : seen) sum += shares[i] * values[i].numbers[d];
        if (std::abs(sum) >= std::int64_t{1} << 31) throw std::overflow_error("a sum of values");
        sums.back()[d] = static_cast<float>(sum) * to_values;
      }
    }
    const float most = *std::max_element(largest.begin(), largest.end());
    float mass = 0.0f;
    Vector attended(config_.head_dim, 0.0f);
    for (std::size_t split = 0; split < sums.size(); ++split) {
      const float share = float32_exponential(largest[split] - most);
      mass = std::fma(masses[split], share, mass);
      for (std::size_t d = 0; d < attended.size(); ++d) {
        attended[d] = std::fma(sums[split][d], share, attended[d]);
      }
    }
    const float factor = sink ? factor_with_sink(mass, most, *sink) : 1.0f / mass;
    for (float& sum : attended) sum = sum * factor;
    return attended;
  }

  /// The factor of the sums of values: the sink enters the largest score and the mass.
  static float factor_with_sink(float mass, float largest, float sink) {
    const float most = std::max(largest, sink);
    const float shrink = float32_exponential(largest - most);
    return shrink / std::fma(mass, shrink, float32_exponential(sink - most));
  }

  /// True if the blocks have norms of their input and none of their output.
  bool is_before() const {
    return !tensors_.has("model.layers.0.post_feedforward_layernorm.weight");
  }

  void feed_forward(const std::string& prefix, Vector& state) const {
    const auto x = input_of(
        state, prefix + (is_before() ? "post_attention" : "pre_feedforward") + "_layernorm.weight");
    auto gate = product(prefix + "mlp.gate_proj.weight", x);
    const auto up = product(prefix + "mlp.up_proj.weight", x);
    for (std::size_t i = 0; i < gate.size(); ++i) {
      gate[i] = gate[i] / (1.0f + float32_exponential(-gate[i])) * up[i];
    }
    add_output(product(prefix + "mlp.down_proj.weight", gate),
               prefix + "post_feedforward_layernorm.weight", state);
  }

  const DecoderConfig config_;
  const KeptTensors& tensors_;
  const Defect defect_;
};

}  // namespace tempera::gpu
