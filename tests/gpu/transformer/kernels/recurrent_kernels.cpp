// The steps of recurrent layers, each form against the sequences of docs/arithmetic.md written out
// once more: one memory [key, value] for each head, one token after the other.
#include <cmath>
#include <cstring>

#include "gpu/lottery/exponential.hpp"
#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "tests/gpu/transformer/kernels/forms.hpp"
#include "tests/gpu/transformer/recurrent_model.hpp"

namespace tempera::gpu {

namespace {

using Floats = std::vector<float>;

/// Whole numbers of 2^-8 in (-2, 2), which no sum of a few of them rounds away.
Floats scattered(std::size_t size, std::uint64_t seed) {
  Floats values;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t word = (seed * 1000003U + i * 7919U) * 0x9E3779B97F4A7C15ULL;
    values.push_back((static_cast<float>(word >> 54) - 511.5f) / 256.0f);
  }
  return values;
}

/// Sum of squares, element i in partial sum i % 16, halves first.
float squares(const float* x, std::size_t size) {
  Floats partial(16);
  for (std::size_t i = 0; i < size; ++i) partial[i % 16] = std::fma(x[i], x[i], partial[i % 16]);
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
  }
  return partial[0];
}

float naive_silu(float x) { return x / (1.0f + float32_exponential(-x)); }

const RecurrentShape shape{2, 4, 5, 19, 4, 112, 192, 208, 227};
constexpr std::size_t channels = 2 * 2 * 5 + 4 * 19;
constexpr float normed_epsilon = 0.25f;

/// One record: the tokens from `begin` to `end` go through after those before them.
struct NaiveRecord {
  std::vector<Floats> inputs;  // of the convolution, all so far
  std::vector<Floats> memory = std::vector<Floats>(4, Floats(5 * 19));  // [head][key, value]

  /// A row as convolve, prepare_recurrence and apply_delta_rule leave it.
  void run(const Floats& weight, const Floats& rates, const Floats& biases, float* row) {
    inputs.emplace_back(row, row + channels);
    const std::size_t t = inputs.size() - 1;
    for (std::size_t c = 0; c < channels; ++c) {
      float sum = 0.0f;
      for (std::size_t tap = 0; tap < 4; ++tap) {
        const bool is_there = t + tap >= 3;
        sum = std::fma(weight[tap * channels + c], is_there ? inputs[t + tap - 3][c] : 0.0f, sum);
      }
      row[c] = naive_silu(sum);
    }
    for (std::size_t head = 0; head < 4; ++head) {
      float* x = row + head * 5;  // queries, then keys
      const float factor = 1.0f / std::sqrt(squares(x, 5) + 1e-6f);
      for (std::size_t d = 0; d < 5; ++d) {
        x[d] *= factor;
        if (head < 2) x[d] *= 1.0f / std::sqrt(5.0f);
      }
      float& strength = row[shape.strength_begin + head];
      strength = 1.0f / (1.0f + float32_exponential(-strength));
      float& decay = row[shape.decay_begin + head];
      const double a = double{decay + biases[head]};
      decay = static_cast<float>(exponential(-double{rates[head]} * logarithm(1 + exponential(a))));
    }
    for (std::size_t head = 0; head < 4; ++head) {
      const float* query = row + head / 2 * 5;
      const float* key = query + 10;
      const float decay = row[shape.decay_begin + head];
      for (std::size_t v = 0; v < 19; ++v) {
        float& value = row[20 + head * 19 + v];
        float answer = 0.0f;
        for (std::size_t k = 0; k < 5; ++k) {
          float& cell = memory[head][k * 19 + v];
          cell *= decay;
          answer = std::fma(cell, key[k], answer);
        }
        const float written = (value - answer) * row[shape.strength_begin + head];
        value = 0.0f;
        for (std::size_t k = 0; k < 5; ++k) {
          float& cell = memory[head][k * 19 + v];
          cell = std::fma(key[k], written, cell);
          value = std::fma(cell, query[k], value);
        }
      }
    }
  }
};

template <class Value>
DeviceMemory<Value> device(const std::vector<Value>& values) {
  return DeviceMemory<Value>(std::span<const Value>(values));
}

std::vector<std::uint32_t> bits_of(const Floats& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

}  // namespace

TEST_CASE("every form walks recurrent layers through the sequences that are written down",
          "[kernels][recurrent]") {
  const Floats weight = scattered(4 * channels, 1);
  const Floats rates{0.01f, 0.2f, 0.05f, 1.5f};
  const Floats biases = scattered(4, 2);
  // Two launches of two records: the first goes from 0 past a checkpoint, the second begins where
  // the other stops, so that each launch has a record that begins and one that goes on.
  const std::vector<std::vector<std::uint32_t>> lengths{{70, 64}, {60, 2}};
  const std::vector<std::vector<std::uint32_t>> states{{3, 0, 5}, {1, 4}};  // of each record
  for (const Kernels* kernels : forms_of_the_kernels()) {
    CAPTURE(kernels->name());
    const StateShape layout{2, channels, 4, 4, 5, 19};
    // What the states held before must not be seen.
    auto memory = device(scattered(6 * layout.bytes() / sizeof(float), 9));
    const PageMemory pages{reinterpret_cast<std::byte*>(memory.data()), layout.bytes()};
    std::vector<NaiveRecord> naive(2);
    std::vector<std::uint32_t> done{0, 0};
    for (std::size_t part = 0; part < lengths.size(); ++part) {
      std::vector<std::uint32_t> positions;
      std::vector<std::uint32_t> first_row;
      std::vector<std::uint32_t> first_state;
      std::vector<std::uint32_t> table;
      for (std::size_t record = 0; record < 2; ++record) {
        first_row.push_back(static_cast<std::uint32_t>(positions.size()));
        first_state.push_back(static_cast<std::uint32_t>(table.size()));
        table.insert(table.end(), states[record].begin(), states[record].end());
        for (std::uint32_t i = 0; i < lengths[part][record]; ++i) {
          positions.push_back(done[record]++);
        }
      }
      const std::size_t rows = positions.size();
      first_row.push_back(static_cast<std::uint32_t>(rows));
      Floats expected = scattered(rows * shape.row_floats, 20 + part);
      auto projected = device(expected);
      for (std::size_t record = 0; record < 2; ++record) {
        for (std::size_t row = first_row[record]; row < first_row[record + 1]; ++row) {
          naive[record].run(weight, rates, biases, expected.data() + row * shape.row_floats);
        }
      }
      const auto device_positions = device(positions);
      const auto rows_of_records = device(first_row);
      const auto states_of_records = device(first_state);
      const auto device_table = device(table);
      TokenRows batch{rows, 200, nullptr, device_positions.data(), nullptr, nullptr};
      batch.recurrent = {2, rows_of_records.data(), states_of_records.data(), device_table.data(),
                         pages};
      const auto device_weight = device(weight);
      const auto device_rates = device(rates);
      const auto device_biases = device(biases);
      kernels->convolve(shape, device_weight.data(), batch, layout.inputs(pages, 1),
                        projected.data());
      kernels->prepare_recurrence(shape, device_rates.data(), device_biases.data(), rows,
                                  projected.data());
      kernels->apply_delta_rule(shape, batch, layout.memories(pages, 1), projected.data());
      const auto result = projected.download(0, projected.size());
      CHECK(bits_of(result) == bits_of(expected));

      const Floats norm = scattered(19, 5);
      const auto device_norm = device(norm);
      DeviceMemory<float> normed(rows * 76);
      kernels->normalize_gated(shape, device_norm.data(), normed_epsilon, rows, projected.data(),
                               {normed.data(), nullptr});
      Floats expected_normed;
      for (std::size_t row = 0; row < rows; ++row) {
        const float* buffer = expected.data() + row * shape.row_floats;
        for (std::size_t head = 0; head < 4; ++head) {
          const float* output = buffer + 20 + head * 19;
          const float factor = 1.0f / std::sqrt(squares(output, 19) / 19.0f + normed_epsilon);
          for (std::size_t d = 0; d < 19; ++d) {
            expected_normed.push_back(norm[d] * (output[d] * factor) *
                                      naive_silu(buffer[shape.gate_begin + head * 19 + d]));
          }
        }
      }
      CHECK(bits_of(normed.download(0, normed.size())) == bits_of(expected_normed));

      kernels->gate_attended(projected.data() + 3, shape.row_floats, rows, 76,
                             {normed.data(), nullptr});
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < 76; ++i) {
          const float gate = expected[row * shape.row_floats + 3 + i];
          expected_normed[row * 76 + i] *= 1.0f / (1.0f + float32_exponential(-gate));
        }
      }
      CHECK(bits_of(normed.download(0, normed.size())) == bits_of(expected_normed));
    }
  }
}

TEST_CASE("the CUDA kernels of tensor-core refuse a recurrent model in one line",
          "[kernels][recurrent]") {
  const CudaKernels cuda;
  require_bad_input([&] { recurrent::model(cuda); },
                    {"gated DeltaNet", "CUDA kernels of tensor-core", "--arithmetic float32"});
  for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::tensor_core}) {
    for (const Kernels* kernels : forms_of_the_kernels(arithmetic)) {
      CHECK_NOTHROW(kernels->require_recurrence("config.json"));
    }
  }
}

}  // namespace tempera::gpu
