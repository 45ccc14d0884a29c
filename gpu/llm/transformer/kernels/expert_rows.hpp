#pragma once

#include "gpu/llm/transformer/kernels/dot_product.hpp"
#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"
#include "gpu/llm/transformer/weights/weight_reader.hpp"

// The steps of a feed-forward of experts, besides their products: call operator()(item). Stored: as
// in recurrent_kernels.hpp. All is float32 but for what enters a product.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// logits[row, o] = Σ_i router(o, i) · inputs[row, i] + bias[o], summed as `float32` sums a
/// product. An item is a block of outputs of one row.
template <class Stored, class Weights>
struct Route {
  Weights router;
  const Stored* inputs;  // [rows, in]
  std::size_t in;
  std::size_t out;    // a multiple of lanes
  const float* bias;  // [out]; null: there is none
  float* logits;      // [rows, out]

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t blocks = out / lanes;
    const std::size_t begin = item % blocks * lanes;
    const Stored* const x = inputs + item / blocks * in;
    const Weights weights = router.from(begin);
    float sums[lanes] = {};
    for (std::size_t first = 0; first < in; first += run_length) {
      const std::size_t end = first + run_length < in ? first + run_length : in;
      float run[lanes] = {};
      for (std::size_t i = first; i < end; ++i) {
        const float input = read_input(x[i]);
        for (std::size_t o = 0; o < lanes; ++o)
          run[o] = fused_multiply_add(input, weights(o, i), run[o]);
      }
      for (std::size_t o = 0; o < lanes; ++o) sums[o] += run[o];
    }
    if (bias != nullptr)
      for (std::size_t o = 0; o < lanes; ++o) sums[o] += bias[begin + o];
    for (std::size_t o = 0; o < lanes; ++o) logits[item / blocks * out + begin + o] = sums[o];
  }
};

/// Chooses the experts of a row, as VariantKernels::choose_experts says. An item is a row.
struct ChooseExperts {
  ExpertChoice choice;
  const float* logits;  // [rows, row_floats]
  std::size_t row_floats;
  std::uint32_t* experts;  // [rows, slots]
  float* weights;          // [rows, slots]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const float* const of_row = logits + row * row_floats;
    std::uint32_t* const mine = experts + row * choice.slots();
    float* const share = weights + row * choice.slots();
    choose(of_row, mine);
    float largest = of_row[0];
    for (std::size_t e = 1; e < choice.experts; ++e)
      largest = of_row[e] > largest ? of_row[e] : largest;
    float sum = 0.0f;
    for (std::size_t e = 0; e < choice.experts; ++e)
      sum += float32_exponential(of_row[e] - largest);
    float chosen_sum = 0.0f;
    for (std::size_t j = 0; j < choice.chosen; ++j) {
      share[j] = float32_exponential(of_row[mine[j]] - largest) / sum;
      chosen_sum += share[j];
    }
    if (choice.renormalises)
      for (std::size_t j = 0; j < choice.chosen; ++j) share[j] /= chosen_sum;
    if (choice.shared_begin == 0) return;
    mine[choice.chosen] = static_cast<std::uint32_t>(choice.experts);
    share[choice.chosen] = sigmoid(of_row[choice.shared_begin]);
  }

 private:
  /// One after another, from the largest logit down, each put where its index belongs. A NaN
  /// compares with nothing and is never the next; it shows in the weights, whose sum it is in.
  TEMPERA_HOST_DEVICE void choose(const float* of_row, std::uint32_t* mine) const {
    std::size_t latest = 0;
    for (std::size_t count = 0; count < choice.chosen; ++count) {
      std::size_t next = choice.experts;
      for (std::size_t e = 0; e < choice.experts; ++e) {
        const bool is_after =
            count == 0 || of_row[e] < of_row[latest] || (of_row[e] == of_row[latest] && e > latest);
        if (is_after && (next == choice.experts || of_row[e] > of_row[next])) next = e;
      }
      if (next == choice.experts) {
        for (std::size_t j = 0; j < choice.chosen; ++j) mine[j] = static_cast<std::uint32_t>(j);
        return;
      }
      std::size_t place = count;
      for (; place > 0 && mine[place - 1] > next; --place) mine[place] = mine[place - 1];
      mine[place] = static_cast<std::uint32_t>(next);
      latest = next;
    }
  }
};

/// taken[i] = inputs[list[i]]. An item is a row of what is taken.
template <class Stored>
struct TakeListed {
  const Stored* inputs;       // [rows, size]
  const std::uint32_t* list;  // [items]
  std::size_t size;
  Stored* taken;  // [items, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const Stored* const source = inputs + list[item] * size;
    for (std::size_t i = 0; i < size; ++i) taken[item * size + i] = source[i];
  }
};

/// states[row] += Σ_j weights[row, j] · outputs[places[row, j]], in the order of j. An item is a
/// row.
struct AddExperts {
  const float* outputs;         // [.., size]
  const std::uint32_t* places;  // [rows, slots]
  const float* weights;         // [rows, slots]
  std::size_t slots;
  std::size_t size;
  float* states;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    for (std::size_t i = 0; i < size; ++i) {
      float sum = 0.0f;
      for (std::size_t j = row * slots; j < (row + 1) * slots; ++j)
        sum = fused_multiply_add(weights[j], outputs[places[j] * size + i], sum);
      states[row * size + i] += sum;
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
