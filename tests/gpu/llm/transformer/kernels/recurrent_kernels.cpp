// Recurrent layers and gated attention, each form against the sequences of
// docs/reference/arithmetic.md written out once more: one memory [key, value] for each head, one
// token after the other.
#include <cmath>
#include <cstring>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"

namespace tempera::gpu::recurrent_kernels_test {

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

  /// Leaves the row's answers, before their norm, in the place of its values.
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

/// The answers of a row that a NaiveRecord has run: [4, 19], the heads in this order.
Floats naive_answers(const Floats& norm, const float* row, const std::vector<std::size_t>& order) {
  Floats answers;
  for (const std::size_t head : order) {
    const float* output = row + 20 + head * 19;
    const float factor = 1.0f / std::sqrt(squares(output, 19) / 19.0f + normed_epsilon);
    for (std::size_t d = 0; d < 19; ++d) {
      answers.push_back(norm[d] * (output[d] * factor) *
                        naive_silu(row[shape.gate_begin + head * 19 + d]));
    }
  }
  return answers;
}

/// A state's part of one layer, as StateShape lays it out.
struct StateBits {
  std::vector<std::uint32_t> inputs;
  std::vector<std::uint32_t> memories;
};

StateBits state_of(const NaiveRecord& record) {
  Floats inputs;
  const std::size_t rows = record.inputs.size();
  for (std::size_t i = 3; i > 0; --i) {
    const Floats row = i > rows ? Floats(channels) : record.inputs[rows - i];
    inputs.insert(inputs.end(), row.begin(), row.end());
  }
  Floats memories;
  for (std::size_t head = 0; head < 4; ++head) {
    for (std::size_t column = 0; column < 32; column += 16) {
      for (std::size_t k = 0; k < 5; ++k) {
        for (std::size_t lane = column; lane < column + 16; ++lane) {
          memories.push_back(lane < 19 ? record.memory[head][k * 19 + lane] : 0.0f);
        }
      }
    }
  }
  return {bits_of(inputs), bits_of(memories)};
}

/// Columns that are none, after the 19, belong to nobody.
StateBits state_in(const RecurrentStates& states, std::uint32_t state) {
  const auto* inputs = part_of_page<std::uint32_t>(states.inputs, state);
  const auto* memories = part_of_page<std::uint32_t>(states.memories, state);
  StateBits bits{{inputs, inputs + 3 * channels}, {memories, memories + 4 * 2 * 5 * 16}};
  for (std::size_t i = 0; i < bits.memories.size(); ++i) {
    if (i / 80 % 2 == 1 && i % 16 >= 3) bits.memories[i] = 0;
  }
  return bits;
}

/// What goes into a product, as an arithmetic stores it.
struct StoredRows {
  Arithmetic arithmetic;
  DeviceMemory<float> float32;
  DeviceMemory<std::uint16_t> bfloat16;

  StoredRows(Arithmetic of, std::size_t size) : arithmetic(of), float32(size), bfloat16(size) {}
  ProductInputs view() {
    if (!rounds_to_bfloat16(arithmetic)) return {float32.data(), nullptr};
    return {nullptr, bfloat16.data()};
  }
  std::vector<std::uint32_t> bits() const {
    if (!rounds_to_bfloat16(arithmetic)) return bits_of(float32.download(0, float32.size()));
    const auto stored = bfloat16.download(0, bfloat16.size());
    return {stored.begin(), stored.end()};
  }
  std::vector<std::uint32_t> bits_of_expected(const Floats& values) const {
    if (!rounds_to_bfloat16(arithmetic)) return bits_of(values);
    std::vector<std::uint32_t> stored;
    for (const float value : values) stored.push_back(to_bfloat16(value));
    return stored;
  }
};

/// Every form of every arithmetic that can run here, the CUDA kernels on fibers among them.
std::vector<const Kernels*> all_forms() {
  static const CudaKernels on_fibers(3);
  std::vector<const Kernels*> forms{&on_fibers};
  for (const Arithmetic arithmetic : arithmetics) {
    const auto of = forms_of_the_kernels(arithmetic);
    forms.insert(forms.end(), of.begin(), of.end());
  }
  return forms;
}

}  // namespace

// 6 heads on 2 keys, where the map of heads to places is not its own inverse, as it is with 4.
TEST_CASE("tiled answers of six heads are those in order, first one of each key, then another",
          "[kernels][recurrent]") {
  const std::size_t key_dim = 5, value_dim = 19, heads = 6, rows = 3;
  const std::size_t all = 2 * 2 * key_dim + heads * value_dim;
  RecurrentShape in_order{2, heads, key_dim, value_dim, 4, all, all + heads * value_dim, 0, 0};
  in_order.decay_begin = in_order.strength_begin + heads;
  in_order.row_floats = in_order.decay_begin + heads;
  const StateShape layout{1, all, 4, heads, key_dim, value_dim};
  const std::vector<std::uint32_t> positions{0, 1, 2}, first_row{0, rows}, first_state{0}, table{0};
  const auto weight = device(scattered(4 * all, 1));
  const auto rates = device(Floats{0.01f, 0.2f, 0.05f, 1.5f, 0.4f, 0.9f});
  const auto biases = device(scattered(heads, 2));
  const auto norm = device(scattered(value_dim, 5));
  for (const Kernels* kernels : all_forms()) {
    CAPTURE(kernels->name(), name_of(kernels->arithmetic()));
    const auto answers_of = [&](bool tiles_answers) {
      RecurrentShape own = in_order;
      own.tiles_answers = tiles_answers;
      auto memory = device(scattered(layout.layout().bytes() / sizeof(float), 9));
      const PageMemory pages = pages_at(memory.data(), 1, layout.layout());
      auto projected = device(scattered(rows * own.row_floats, 20));
      const auto device_positions = device(positions);
      const auto device_rows = device(first_row);
      const auto device_states = device(first_state);
      const auto device_table = device(table);
      TokenRows batch{rows, 200, nullptr, device_positions.data(), nullptr, nullptr};
      batch.recurrent = {1, device_rows.data(), device_states.data(), device_table.data(), pages};
      StoredRows answers(kernels->arithmetic(), rows * heads * value_dim);
      kernels->recur(own, {weight.data(), rates.data(), biases.data(), norm.data(), normed_epsilon},
                     batch, {layout.inputs(pages, 0), layout.memories(pages, 0)}, projected.data(),
                     answers.view());
      return answers.bits();
    };
    const auto ordered = answers_of(false);
    const auto tiled = answers_of(true);
    REQUIRE(ordered.size() == rows * heads * value_dim);
    // Heads 0, 1 and 2 share a key, and 3, 4 and 5.
    const std::vector<std::size_t> head_at{0, 3, 1, 4, 2, 5};
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      const std::size_t index = i / value_dim % heads;
      REQUIRE(tiled[i] == ordered[i + (head_at[index] - index) * value_dim]);
    }
    CHECK(ordered != tiled);
  }
}

TEST_CASE("every form walks recurrent layers through the sequences that are written down",
          "[kernels][recurrent]") {
  const auto weight = device(scattered(4 * channels, 1));
  const Floats rates{0.01f, 0.2f, 0.05f, 1.5f};
  const Floats biases = scattered(4, 2);
  const Floats norm = scattered(19, 5);
  // Two launches of two records: the first goes from 0 past a checkpoint, the second begins where
  // the other stops, so that each launch has a record that begins and one that goes on.
  const std::vector<std::vector<std::uint32_t>> lengths{{70, 64}, {60, 2}};
  const std::vector<std::vector<std::uint32_t>> states{{3, 0, 5}, {1, 4}};  // of each record
  for (const Kernels* kernels : all_forms()) {
    CAPTURE(kernels->name(), name_of(kernels->arithmetic()));
    const StateShape layout{2, channels, 4, 4, 5, 19};
    // What the states held before must not be seen.
    auto memory = device(scattered(6 * layout.layout().bytes() / sizeof(float), 9));
    const PageMemory pages = pages_at(memory.data(), 6, layout.layout());
    const RecurrentStates of_layer{layout.inputs(pages, 1), layout.memories(pages, 1)};
    std::vector<NaiveRecord> naive(2);
    std::vector<std::uint32_t> done{0, 0};
    for (std::size_t part = 0; part < lengths.size(); ++part) {
      // The second launch has its answers tiled: heads 0 and 1 share a key, 2 and 3 another.
      RecurrentShape of_part = shape;
      of_part.tiles_answers = part == 1;
      const std::vector<std::size_t> order =
          part == 1 ? std::vector<std::size_t>{0, 2, 1, 3} : std::vector<std::size_t>{0, 1, 2, 3};
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
      Floats expected_answers;
      std::vector<std::pair<std::uint32_t, StateBits>> expected_states;
      for (std::size_t record = 0; record < 2; ++record) {
        for (std::size_t row = first_row[record]; row < first_row[record + 1]; ++row) {
          float* const buffer = expected.data() + row * shape.row_floats;
          naive[record].run(scattered(4 * channels, 1), rates, biases, buffer);
          const Floats answers = naive_answers(norm, buffer, order);
          expected_answers.insert(expected_answers.end(), answers.begin(), answers.end());
          if (positions[row] % 64 == 63 || row + 1 == first_row[record + 1]) {
            expected_states.emplace_back(states[record][positions[row] / 64],
                                         state_of(naive[record]));
          }
        }
      }
      const auto device_positions = device(positions);
      const auto rows_of_records = device(first_row);
      const auto states_of_records = device(first_state);
      const auto device_table = device(table);
      TokenRows batch{rows, 200, nullptr, device_positions.data(), nullptr, nullptr};
      batch.recurrent = {2, rows_of_records.data(), states_of_records.data(), device_table.data(),
                         pages};
      const auto device_rates = device(rates);
      const auto device_biases = device(biases);
      const auto device_norm = device(norm);
      StoredRows answers(kernels->arithmetic(), rows * 76);
      kernels->recur(of_part,
                     {weight.data(), device_rates.data(), device_biases.data(), device_norm.data(),
                      normed_epsilon},
                     batch, of_layer, projected.data(), answers.view());
      CHECK(answers.bits() == answers.bits_of_expected(expected_answers));
      for (const auto& [state, bits] : expected_states) {
        const StateBits found = state_in(of_layer, state);
        CHECK(found.inputs == bits.inputs);
        CHECK(found.memories == bits.memories);
      }
    }
  }
}

TEST_CASE("every form gates what is attended, head by head", "[kernels][recurrent]") {
  constexpr std::size_t rows = 3;
  // Two heads on one key head, gates after the values and a gap.
  const AttentionShape gated{2, 1, 16, 32, 48, 112, 0, 68};
  AttentionShape plain = gated;
  plain.gate_begin = 0;
  const Floats buffer = scattered(rows * gated.row_floats, 7);
  const auto query_key_value = device(buffer);
  const std::vector<std::uint32_t> positions{0, 1, 2};
  const std::vector<std::uint32_t> zeros(rows);
  const TokenRows batch{rows, 3, nullptr, positions.data(), zeros.data(), zeros.data()};
  for (const Kernels* kernels : all_forms()) {
    CAPTURE(kernels->name(), name_of(kernels->arithmetic()));
    const std::size_t page_bytes = 2 * 16 * 16 * sizeof(float);
    std::vector<std::uint32_t> halves(page_bytes / 4, 0x3F003E80U);  // 0.5 and 0.25
    if (page_elements(kernels->arithmetic()) == PageElements::sixteen_bits) {
      // The exponents of the keys and of the values, after 16 tokens' 16 elements.
      for (const std::size_t part : {std::size_t{0}, page_bytes / 8})
        std::fill_n(halves.begin() + static_cast<std::ptrdiff_t>(part + 128), 16, 0U);
    }
    auto words = device(halves);
    const PagePart keys{reinterpret_cast<std::byte*>(words.data()), page_bytes};
    const PagePart values = part_after(keys, page_bytes / 2);
    StoredRows attended(kernels->arithmetic(), rows * 32);
    StoredRows found(kernels->arithmetic(), rows * 32);
    kernels->attend(plain, query_key_value.data(), batch, keys, values, attended.view());
    kernels->attend(gated, query_key_value.data(), batch, keys, values, found.view());
    Floats expected;
    for (std::size_t i = 0; i < rows * 32; ++i) {
      const float gate = buffer[i / 32 * gated.row_floats + 68 + i % 32];
      const float x = !rounds_to_bfloat16(kernels->arithmetic())
                          ? attended.float32.download(i, 1)[0]
                          : from_bfloat16(attended.bfloat16.download(i, 1)[0]);
      expected.push_back(x * (1.0f / (1.0f + float32_exponential(-gate))));
    }
    CHECK(found.bits() == found.bits_of_expected(expected));
    CHECK(found.bits() != attended.bits());
  }
}

TEST_CASE("the CUDA kernels refuse a memory that a block has no room for, before a weight is read",
          "[kernels][recurrent]") {
  const CudaKernels roomy;
  const CudaKernels narrow(1, 99 * 1024);
  const auto made = [](const Kernels& kernels, std::size_t key_dim, std::size_t value_dim) {
    auto config = recurrent::small_config();
    config.linear_key_head_dim = key_dim;
    config.linear_value_head_dim = value_dim;
    FormulaTensors tensors;
    const Qwen3_5 model(config, tensors, kernels);
  };
  CHECK_NOTHROW(made(roomy, 128, 128));
  CHECK_NOTHROW(made(narrow, 128, 128));  // Qwen3.5's own
  require_bad_input(
      [&] { made(narrow, 256, 128); },
      {"\"linear_key_head_dim\" is 256", "the device gives 101376", "--arithmetic float32"});
  require_bad_input([&] { made(roomy, 256, 512); }, {"\"linear_value_head_dim\" 512"});
}

}  // namespace tempera::gpu::recurrent_kernels_test
