// Cases for every form of the arithmetic `integer`: rows of every kind, products beside sums of 64
// bits, texts to attend to. They take no part of the library besides the forms themselves, and
// their numbers are the same on every machine: tests/aarch64 compiles it for another one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "tests/gpu/device/naive_whole.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"

namespace tempera::gpu {

using Floats = std::vector<float>;

/// Numbers of about the size of 1, of both signs. (Those of std::normal_distribution depend on a
/// logarithm, which is the C library's.)
class BellNumbers {
 public:
  explicit BellNumbers(std::uint32_t seed) : random_(seed) {}
  float operator()() {
    std::uint32_t sum = 0;
    for (int i = 0; i < 2; ++i) {
      const auto two = static_cast<std::uint32_t>(random_());
      sum += (two & 0xFFFFU) + (two >> 16);
    }
    return static_cast<float>(static_cast<std::int32_t>(sum) - 2 * 0xFFFF) * 0x1p-15F;
  }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_()) % bound; }

 private:
  std::mt19937 random_;
};

/// Rows of every kind: of the usual numbers, with outliers, of zeros, of ties, of one number, of
/// the smallest and the largest that have whole numbers, and of none at all.
class RowKinds {
 public:
  explicit RowKinds(std::uint32_t seed) : numbers_(seed) {}

  static constexpr std::size_t sound = 11;
  static constexpr std::size_t kinds = 14;

  Floats row(std::size_t kind, std::size_t size) {
    Floats x(size);
    for (float& each : x) each = numbers_();
    float& one = x[numbers_.below(static_cast<std::uint32_t>(size))];
    switch (kind) {
      case 1:
        one = 1000.0F;
        break;
      case 2:
        std::fill(x.begin(), x.end(), numbers_.below(2) == 0 ? 0.0F : -0.0F);
        break;
      case 3:
        for (float& each : x) each = static_cast<float>(numbers_.below(64)) + 0.5F;
        one = 20000.0F;
        break;
      case 4:
        std::fill(x.begin(), x.end(), 0.0F);
        x.back() = -0x1.8p-30F;
        break;
      case 5:
        for (float& each : x) each *= 0x1p-70F;
        break;
      case 6:
        for (float& each : x) each *= 0x1p-140F;
        break;
      case 7:
        for (float& each : x) each *= 0x1p73F;
        break;
      case 8:
        std::fill(x.begin(), x.end(), -1.0F);
        break;
      case 9:
        one = 32767.49F;
        break;
      case 10:
        one = -32767.5F;
        break;
      case 11:
        one = std::nanf("");
        break;
      case 12:
        one = -HUGE_VALF;
        break;
      case 13:
        one = 0x1p90F;
        break;
      default:
        break;
    }
    return x;
  }
  /// So many rows, of all kinds or of those that have whole numbers, in turn.
  Floats rows(std::size_t count, std::size_t size, std::size_t of_kinds = sound) {
    Floats all;
    for (std::size_t i = 0; i < count; ++i) {
      const Floats x = row(i % of_kinds, size);
      all.insert(all.end(), x.begin(), x.end());
    }
    return all;
  }

 private:
  BellNumbers numbers_;
};

/// Rows of inputs and matrices of weights, one row for each output.
struct WholeProduct {
  std::size_t in;
  Floats weights;
  Floats inputs;

  std::size_t out() const { return weights.size() / in; }
  std::size_t rows() const { return inputs.size() / in; }
};

/// Products of every shape of a tile, with the ends that no tile has.
inline std::vector<WholeProduct> usual_products() {
  BellNumbers numbers(2);
  struct Size {
    std::size_t in, out, rows;
  };
  std::vector<WholeProduct> products;
  for (const auto [in, out, rows] : {Size{1, 1, 1}, Size{2, 17, 3}, Size{31, 5, 2}, Size{33, 40, 7},
                                     Size{96, 130, 15}, Size{511, 3, 5}, Size{512, 33, 9},
                                     Size{513, 16, 28}, Size{1111, 70, 66}, Size{64, 48, 130}}) {
    WholeProduct product{in, Floats(in * out), Floats(in * rows)};
    Floats& weights = product.weights;
    Floats& inputs = product.inputs;
    for (float& w : weights) w = numbers() * 0.05F;
    for (float& x : inputs) x = numbers();
    // A row with a number far above the others, one of zeros, one of ties, one of tiny numbers.
    inputs[0] = 500.0F;
    for (std::size_t i = 0; i < in; ++i) {
      if (rows > 2) inputs[2 * in + i] = 0.0F;
      if (rows > 3) inputs[3 * in + i] = static_cast<float>(numbers.below(64)) + 0.5F;
      if (rows > 4) inputs[4 * in + i] *= 0x1p-70F;
      if (out > 2) weights[2 * in + i] *= 0x1p-64F;
      if (out > 4) weights[4 * in + i] = 0.0F;
    }
    products.push_back(std::move(product));
  }
  return products;
}

/// Inputs that are the weights have the largest sum that Cauchy and Schwarz allow.
inline std::vector<WholeProduct> largest_products() {
  std::vector<WholeProduct> products;
  for (const std::size_t in : {1U, 2U, 4U, 5U, 64U, 511U, 512U}) {
    WholeProduct product{in, Floats(in), {}};
    for (std::size_t i = 0; i < in; ++i) product.weights[i] = i % 3 == 0 ? 1.0F : 0.96875F;
    product.inputs = product.weights;
    for (const float x : product.weights) product.inputs.push_back(-x);
    products.push_back(std::move(product));
  }
  return products;
}

/// The segments of rows [_, in] as whole numbers, one row's after another's.
inline std::vector<NaiveWhole> naive_segments(const Floats& x, std::size_t in,
                                              std::uint64_t most_squares) {
  constexpr std::size_t segment = 512;
  std::vector<NaiveWhole> segments;
  for (std::size_t row = 0; row < x.size(); row += in) {
    for (std::size_t begin = 0; begin < in; begin += segment) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(row + begin);
      const auto size = static_cast<std::ptrdiff_t>(std::min(segment, in - begin));
      segments.push_back(naive_whole({first, first + size}, most_squares));
    }
  }
  return segments;
}

inline std::vector<NaiveWhole> naive_weights(const WholeProduct& product) {
  return naive_segments(product.weights, product.in, (1U << 30) - 1);
}

/// By sums of 64 bits, each rounded once.
inline Floats naive_products(const WholeProduct& product) {
  const auto inputs = naive_segments(product.inputs, product.in, 0xFFFFFFFFU);
  const auto weights = naive_weights(product);
  const std::size_t segments = inputs.size() / product.rows();
  Floats y;
  for (std::size_t row = 0; row < product.rows(); ++row) {
    for (std::size_t output = 0; output < product.out(); ++output) {
      float sum = 0.0F;
      for (std::size_t s = 0; s < segments; ++s) {
        const float one = naive_dot(inputs[row * segments + s], weights[output * segments + s]);
        sum = s == 0 ? one : sum + one;
      }
      y.push_back(sum);
    }
  }
  return y;
}

/// Every product of some inputs by a matrix with so many outputs, gated ones too.
inline Floats products_by(const Kernels& kernels, const MatrixView& matrix, std::size_t out,
                          const Floats& inputs) {
  const std::size_t rows = inputs.size() / matrix.in;
  const ProductInputs from{const_cast<float*>(inputs.data()), nullptr};
  Floats bias(out);
  for (std::size_t i = 0; i < out; ++i) bias[i] = static_cast<float>(i) * 0.25F - 1.0F;
  Floats all;
  const auto keep = [&](const Floats& results, std::size_t count) {
    all.insert(all.end(), results.begin(), results.begin() + static_cast<std::ptrdiff_t>(count));
  };
  Floats outputs(rows * out);
  kernels.multiply(matrix, from, rows, out, outputs.data());
  keep(outputs, rows * out);
  kernels.multiply_and_add(matrix, from, rows, out, outputs.data());
  keep(outputs, rows * out);
  kernels.multiply_with_bias(matrix, from, bias.data(), rows, out, outputs.data());
  keep(outputs, rows * out);
  kernels.multiply_head(matrix, from, rows, out, {outputs.data()});
  keep(outputs, rows * out);
  if (const std::size_t half = matrix.out / 2; matrix.out % (2 * lanes) == 0) {
    kernels.multiply_gated(matrix, from, rows, half, {outputs.data(), nullptr});
    keep(outputs, rows * half);
  }
  return all;
}

/// Texts whose heads are rotated into pages and then attended to.
struct AttentionCase {
  std::size_t heads;
  std::size_t groups;
  std::size_t head_dim;
  bool norms;
  std::size_t rotary_dim = 0;
};

/// Heads of every width, with what is left over of a register.
inline std::vector<AttentionCase> attention_cases() {
  return {{4, 2, 16, true},     {3, 3, 40, false},  {6, 1, 6, false},
          {2, 1, 66, true, 24}, {2, 1, 128, false}, {1, 1, 258, true}};
}

class Texts {
 public:
  Texts(const AttentionCase& shape, const std::vector<std::size_t>& lengths, std::uint32_t seed)
      : case_(shape),
        shape_{shape.heads,
               shape.groups,
               shape.head_dim,
               shape.heads * shape.head_dim,
               (shape.heads + shape.groups) * shape.head_dim,
               (shape.heads + 2 * shape.groups) * shape.head_dim,
               shape.rotary_dim} {
    RowKinds kinds(seed);
    norm_ = kinds.row(0, shape.head_dim);
    std::uint32_t page = 1;
    for (const std::size_t length : lengths) {
      const auto first = static_cast<std::uint32_t>(table_.size());
      for (std::size_t p = 0; p < length; ++p) {
        if (p % page_tokens == 0) table_.push_back(page++);
        positions_.push_back(static_cast<std::uint32_t>(p));
        first_page_.push_back(first);
        context_ = std::max(context_, p + 1);
        for (std::size_t head = 0; head < shape.heads + 2 * shape.groups; ++head) {
          // Mostly of the usual kind: heads beyond all others leave attention little to do.
          const std::size_t kind = (p + head) % 5 == 0 ? (p + head) / 5 % 7 : 0;
          const Floats x = kinds.row(kind, shape.head_dim);
          buffer_.insert(buffer_.end(), x.begin(), x.end());
        }
      }
    }
    pages_ = page;
    const std::size_t half = (shape.rotary_dim == 0 ? shape.head_dim : shape.rotary_dim) / 2;
    for (std::size_t p = 0; p < context_; ++p) {
      for (std::size_t d = 0; d < half; ++d) {
        // Any points of the circle, by the tangents of half their angles.
        const float t = static_cast<float>((7 * p + 13 * d) % 41) / 16.0F - 1.25F;
        cosines_.push_back((1.0F - t * t) / (1.0F + t * t));
        sines_.push_back(2.0F * t / (1.0F + t * t));
      }
    }
  }

  float& value(std::size_t row, std::size_t at) { return buffer_[row * shape_.row_floats + at]; }
  const AttentionShape& shape() const { return shape_; }

  struct Answers {
    Floats rotated;
    std::vector<std::byte> pages;
    Floats attended;
  };
  Answers by(const Kernels& kernels) const {
    const PageShape page{1, case_.groups, case_.head_dim, 2, Arithmetic::integer};
    // No number is anywhere that no token was written to.
    Answers answers{buffer_,
                    std::vector<std::byte>(pages_ * page.layout().bytes(), std::byte{0xFF}),
                    Floats(positions_.size() * case_.heads * case_.head_dim)};
    const PageMemory memory = pages_at(answers.pages.data(), pages_, page.layout());
    const TokenRows batch{positions_.size(), context_,           nullptr,
                          positions_.data(), first_page_.data(), table_.data()};
    const float* const norm = case_.norms ? norm_.data() : nullptr;
    kernels.rotate_and_attend(shape_, norm, norm, 1e-6F, {cosines_.data(), sines_.data()}, batch,
                              page.keys(memory, 0), page.values(memory, 0), answers.rotated.data(),
                              {answers.attended.data(), nullptr});
    return answers;
  }

 private:
  AttentionCase case_;
  AttentionShape shape_;
  Floats norm_;
  Floats buffer_;
  Floats cosines_;
  Floats sines_;
  std::vector<std::uint32_t> table_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint32_t> first_page_;
  std::size_t context_ = 0;
  std::size_t pages_ = 0;
};

}  // namespace tempera::gpu
