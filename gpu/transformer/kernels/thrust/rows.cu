#include <cmath>
#include <variant>

#include "gpu/device/launch.hpp"
#include "gpu/transformer/kernels/kernels.hpp"
#include "gpu/transformer/kernels/lane_sum.hpp"
#include "gpu/transformer/weights/weight_value.hpp"

namespace tempera::gpu {

namespace {

/// Floats that one work item copies.
constexpr std::size_t copy_floats = 1024;

template <class Weight>
struct Embed {
  const Weight* embedding;      // packed [vocabulary / lanes, size, lanes]
  const std::uint32_t* tokens;  // [rows]
  std::size_t size;
  float* states;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const std::size_t token = tokens[row];
    const Weight* column = embedding + token / lanes * size * lanes + token % lanes;
    for (std::size_t i = 0; i < size; ++i) states[row * size + i] = weight_value(column[i * lanes]);
  }
};

TEMPERA_HOST_DEVICE inline void normalize_row(const float* states, const float* weight,
                                              std::size_t size, float epsilon, float* normed) {
  const float mean = sum_of_squares(states, size) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (std::size_t i = 0; i < size; ++i) normed[i] = weight[i] * (states[i] * factor);
}

struct Normalize {
  const float* states;  // [rows, size]
  const float* weight;  // [size]
  std::size_t size;
  float epsilon;
  float* normed;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    normalize_row(states + row * size, weight, size, epsilon, normed + row * size);
  }
};

struct NormalizeIntoPages {
  const float* states;  // [rows, hidden_size]
  const float* weight;  // [hidden_size]
  float epsilon;
  TokenRows batch;
  PageMemory memory;

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const std::size_t position = batch.positions[row];
    const std::size_t page = batch.page_table[batch.first_page[row] + position / page_tokens];
    const std::size_t size = memory.shape.hidden_size;
    normalize_row(states + row * size, weight, size, epsilon,
                  memory.floats + page * memory.shape.floats() +
                      memory.shape.hidden_offset(position % page_tokens));
  }
};

struct GatherHidden {
  const std::uint32_t* pages;  // [rows]
  const std::uint32_t* slots;  // [rows]
  PageMemory memory;
  float* hidden;  // [rows, hidden_size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const std::size_t size = memory.shape.hidden_size;
    const float* source =
        memory.floats + pages[row] * memory.shape.floats() + memory.shape.hidden_offset(slots[row]);
    for (std::size_t i = 0; i < size; ++i) hidden[row * size + i] = source[i];
  }
};

struct CopyPages {
  const std::uint32_t* sources;  // [copies]
  const std::uint32_t* targets;  // [copies]
  std::size_t items_per_page;
  PageMemory memory;

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t copy = item / items_per_page;
    const std::size_t size = memory.shape.floats();
    const std::size_t begin = item % items_per_page * copy_floats;
    const std::size_t end = begin + copy_floats < size ? begin + copy_floats : size;
    const float* source = memory.floats + sources[copy] * size;
    float* target = memory.floats + targets[copy] * size;
    for (std::size_t i = begin; i < end; ++i) target[i] = source[i];
  }
};

}  // namespace

void embed(const PackedMatrix& embedding, const TokenRows& batch, float* states) {
  const auto run = [&]<class Weight>(const DeviceMemory<Weight>& weights) {
    launch(batch.rows, Embed<Weight>{weights.data(), batch.tokens, embedding.in, states});
  };
  std::visit(run, embedding.weights);
}

void normalize(const float* states, const float* weight, std::size_t rows, std::size_t size,
               float epsilon, float* normed) {
  launch(rows, Normalize{states, weight, size, epsilon, normed});
}

void normalize_into_pages(const float* states, const float* weight, const TokenRows& batch,
                          float epsilon, const PageMemory& memory) {
  launch(batch.rows, NormalizeIntoPages{states, weight, epsilon, batch, memory});
}

void gather_hidden(const std::uint32_t* pages, const std::uint32_t* slots, std::size_t rows,
                   const PageMemory& memory, float* hidden) {
  launch(rows, GatherHidden{pages, slots, memory, hidden});
}

void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                const PageMemory& memory) {
  const std::size_t items_per_page = (memory.shape.floats() + copy_floats - 1) / copy_floats;
  launch(copies * items_per_page, CopyPages{sources, targets, items_per_page, memory});
}

}  // namespace tempera::gpu
