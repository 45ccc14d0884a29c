// The `bfloat16-pairs` arithmetic of docs/reference/arithmetic.md once more: what it shares with
// `tensor-core` is PlainTensorCore's, its own sums are written out here. Only add_pair
// (gpu/device/bfloat16_pairs.hpp, which the probe and its tests hold against instructions and exact
// sums) and the exponential are production's.
#pragma once

#include "gpu/device/bfloat16_pairs.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_tensor_core.hpp"

namespace tempera::gpu {

enum class PairDefect {
  none,
  one_chain,
  pair_exchanged,
  chains_exchanged_by_segment,
  segments_of_64,
  segments_joined,
  queries_not_rounded,
  shares_not_rounded,
  mass_of_unrounded_shares,
  splits_of_128,
  split_scaled_by_the_largest,
  score_scaled_first,
};

class PlainPairs final : public PlainTensorCore {
 public:
  PlainPairs(const DecoderConfig& config, const KeptTensors& tensors,
             PairDefect defect = PairDefect::none)
      : PlainTensorCore(config, tensors), pair_defect_(defect) {}

 private:
  static std::uint32_t word(float first, float second) {
    return to_bfloat16(first) | static_cast<std::uint32_t>(to_bfloat16(second)) << 16;
  }

  /// The numbers are bfloat16s, unless a defect says otherwise.
  float dot(const Vector& a, const Vector& b) const {
    const std::size_t segment = pair_defect_ == PairDefect::segments_of_64    ? 64
                                : pair_defect_ == PairDefect::segments_joined ? a.size() + 2
                                                                              : 32;
    float total = 0.0f;
    for (std::size_t begin = 0; begin < a.size(); begin += segment) {
      float chains[2] = {0.0f, 0.0f};
      for (std::size_t i = begin; i < std::min(a.size(), begin + segment); i += 2) {
        const auto later = [&](const Vector& x) { return i + 1 < x.size() ? x[i + 1] : 0.0f; };
        float& sum = chains[pair_defect_ == PairDefect::one_chain ? 0 : (i - begin) / 2 % 2];
        sum = pair_defect_ == PairDefect::pair_exchanged
                  ? add_pair(word(later(a), a[i]), word(later(b), b[i]), sum)
                  : add_pair(word(a[i], later(a)), word(b[i], later(b)), sum);
      }
      total = pair_defect_ == PairDefect::chains_exchanged_by_segment
                  ? flushed_sum(flushed_sum(total, chains[0]), chains[1])
                  : flushed_sum(total, flushed_sum(chains[0], chains[1]));
    }
    return total + 0.0f;
  }

  Vector product(const std::string& name, const Vector& x) const override {
    const auto& weights = tensors_.values(name);
    Vector y;
    for (std::size_t o = 0; o < weights.size() / x.size(); ++o) {
      const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(o * x.size());
      y.push_back(dot(Vector(begin, begin + static_cast<std::ptrdiff_t>(x.size())), x));
    }
    return y;
  }

  Vector attended_head(const Vector& query, const std::vector<std::vector<Vector>>& keys,
                       const std::vector<Vector>& values, std::size_t group) const override {
    const std::size_t width = pair_defect_ == PairDefect::splits_of_128 ? 128 : 256;
    const float scale = 1.0f / std::sqrt(static_cast<float>(query.size()));
    float largest = 0.0f;
    float mass = 0.0f;
    Vector sums(query.size(), 0.0f);
    for (std::size_t begin = 0; begin < keys.size(); begin += width) {
      const std::size_t end = std::min(keys.size(), begin + width);
      Vector scores;
      for (std::size_t s = begin; s < end; ++s)
        scores.push_back(score(query, keys[s][group], scale));
      float split_largest = *std::max_element(scores.begin(), scores.end());
      if (pair_defect_ == PairDefect::split_scaled_by_the_largest && begin > 0)
        split_largest = std::max(split_largest, largest);
      Vector shares;
      Vector partial(16, 0.0f);
      for (std::size_t s = 0; s < scores.size(); ++s) {
        const float share = float32_exponential(scores[s] - split_largest);
        shares.push_back(pair_defect_ == PairDefect::shares_not_rounded ? cut(share) : bf16(share));
        const float counted =
            pair_defect_ == PairDefect::mass_of_unrounded_shares ? share : shares.back();
        partial[s % 16] += counted;
      }
      const float split_mass = tree(partial);
      const float new_largest = begin == 0 ? split_largest : std::max(largest, split_largest);
      const float shrink = float32_exponential(largest - new_largest);
      const float weight = float32_exponential(split_largest - new_largest);
      mass = begin == 0 ? split_mass : std::fma(split_mass, weight, mass * shrink);
      for (std::size_t d = 0; d < query.size(); ++d) {
        Vector column;
        for (std::size_t s = begin; s < end; ++s)
          column.push_back(values[s][group * query.size() + d]);
        const float sum = dot(shares, column);
        sums[d] = begin == 0 ? sum : std::fma(sum, weight, sums[d] * shrink);
      }
      largest = new_largest;
    }
    for (float& sum : sums) sum *= 1.0f / mass;
    return sums;
  }

  /// Toward zero instead of to nearest.
  static float cut(float x) { return from_bfloat16(static_cast<std::uint16_t>(bits_of(x) >> 16)); }
  static std::uint32_t bits_of(float x) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }

  float score(const Vector& query, const Vector& key, float scale) const {
    Vector taken;
    for (const float x : query) {
      taken.push_back(pair_defect_ == PairDefect::queries_not_rounded  ? cut(x)
                      : pair_defect_ == PairDefect::score_scaled_first ? bf16(x * scale)
                                                                       : bf16(x));
    }
    const float sum = dot(taken, key);
    return pair_defect_ == PairDefect::score_scaled_first ? sum : scale * sum;
  }

  PairDefect pair_defect_;
};

}  // namespace tempera::gpu
