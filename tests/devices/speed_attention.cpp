// Part 6: attention, as a fraction of the bandwidth, and what it saves to take rows together, and
// to keep keys and values in 8 bits.
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/cache/shared_splits.hpp"
#include "gpu/llm/transformer/kernels/product_input_memory.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/speed.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"

namespace tempera::gpu {

namespace {

/// Rows that attend to `context` positions. In every group of `forks` rows the first so many
/// `shared` splits are the same pages.
struct AttendingRows {
  std::size_t rows;
  std::size_t context;
  std::size_t forks = 1;
  std::size_t shared = 0;

  std::size_t record_pages() const { return (context + page_tokens - 1) / page_tokens; }
  bool is_first(std::size_t row) const { return row % forks == 0; }
};

/// A launch's numbers, one array after the other.
struct Launch {
  std::vector<std::uint32_t> positions, first_page, order, splits, table;

  explicit Launch(const AttendingRows& all) {
    for (std::size_t row = 0; row < all.rows; ++row) {
      const auto number = static_cast<std::uint32_t>(row);
      positions.push_back(static_cast<std::uint32_t>(all.context - 1));
      first_page.push_back(static_cast<std::uint32_t>(row * all.record_pages()));
      order.push_back(number);
      splits.push_back(all.is_first(row) ? 0 : static_cast<std::uint32_t>(all.shared));
      for (std::size_t page = 0; page < all.record_pages(); ++page) {
        const std::size_t owner = page < all.shared * split_pages ? row - row % all.forks : row;
        table.push_back(static_cast<std::uint32_t>(owner * all.record_pages() + page));
      }
    }
  }
};

/// Seconds of one layer's attention; is_together: rows that share pages read them once.
double attention_seconds(SpeedRun& run, const ModelShape& shape, const AttendingRows& all,
                         bool is_together, Arithmetic arithmetic = own_arithmetic()) {
  const DecoderConfig& config = shape.config;
  const Kernels& kernels = default_kernels(arithmetic);
  const PageShape pages{1, config.num_key_value_heads, config.head_dim, 0, kernels.arithmetic()};
  // One layer's pages: larger than every cache.
  DeviceMemory<std::byte> bytes(all.rows * all.record_pages() * pages.layout().bytes());
  const PageMemory memory = pages_at(bytes.data(), all.rows * all.record_pages(), pages.layout());
  const Launch launch(all);
  const auto uploaded = [](const std::vector<std::uint32_t>& numbers) {
    return DeviceMemory<std::uint32_t>{std::span<const std::uint32_t>(numbers)};
  };
  const auto positions = uploaded(launch.positions);
  const auto first_page = uploaded(launch.first_page);
  const auto order = uploaded(launch.order);
  const auto splits = uploaded(launch.splits);
  const auto table = uploaded(launch.table);
  TokenRows batch{all.rows,         all.context,       nullptr,
                  positions.data(), first_page.data(), table.data()};
  if (is_together) batch.shared = {order.data(), splits.data()};
  const std::size_t query = padded(config.num_attention_heads * config.head_dim);
  const std::size_t key_value = padded(config.num_key_value_heads * config.head_dim);
  const AttentionShape attention{
      config.num_attention_heads, config.num_key_value_heads, config.head_dim, query,
      query + key_value,          query + 2 * key_value};
  const DeviceMemory<float> query_key_value(all.rows * attention.row_floats);
  ProductInputMemory attended(kernels.arithmetic());
  attended.ensure_size(all.rows * query);
  return seconds_per_call(run.timing, [&] {
    kernels.attend(attention, query_key_value.data(), batch, pages.keys(memory, 0),
                   pages.values(memory, 0), attended.view());
  });
}

}  // namespace

void measure_attention(SpeedRun& run, const ModelShape& shape, std::size_t rows,
                       std::size_t context) {
  const double read = static_cast<double>(rows * context) *
                      static_cast<double>(shape.token_bytes()) /
                      static_cast<double>(shape.config.num_hidden_layers);
  const double seconds = attention_seconds(run, shape, {rows, context}, false);
  const std::string of = ", B = " + std::to_string(rows) + ", " + std::to_string(context);
  run.figures.judge(std::string(shape.name) + ", attention" + of + " positions",
                    read / (seconds * run.rates.bandwidth), "of the bandwidth",
                    {Goal::Side::at_least, 0.75});
}

void measure_8_bit_attention(SpeedRun& run, const ModelShape& shape, std::size_t rows,
                             std::size_t context) {
  const AttendingRows all{rows, context};
  const double of_8_bits =
      attention_seconds(run, shape, all, false, own_arithmetic_of_8_bit_pages());
  run.figures.judge(std::string(shape.name) + ", attention of 8 bits, B = " + std::to_string(rows) +
                        ", " + std::to_string(context) + " positions",
                    of_8_bits / attention_seconds(run, shape, all, false),
                    "of the time of bfloat16", {Goal::Side::at_most, 0.65});
}

void measure_attention_table(SpeedRun& run, const ModelShape& shape,
                             std::span<const std::size_t> batches,
                             std::span<const std::size_t> contexts) {
  for (const std::size_t context : contexts) {
    for (const std::size_t rows : batches) {
      const AttendingRows all{rows, context};
      const double bytes = static_cast<double>(rows * context) *
                           static_cast<double>(shape.token_bytes()) /
                           static_cast<double>(shape.config.num_hidden_layers);
      const double seconds = attention_seconds(run, shape, all, false);
      run.figures.row("attention",
                      {{"shape", shape.name},
                       {"rows", rows},
                       {"context", context},
                       {"seconds", seconds},
                       {"seconds_of_8_bits",
                        attention_seconds(run, shape, all, false, own_arithmetic_of_8_bit_pages())},
                       {"of_the_bandwidth", bytes / (seconds * run.rates.bandwidth)}});
    }
  }
}

void measure_shared_attention(SpeedRun& run, const ModelShape& shape, std::size_t rows,
                              std::size_t context) {
  constexpr std::size_t forks = 4;
  const std::size_t splits = (context - 1) / (page_tokens * split_pages);
  const auto measured = [&](std::size_t shared) {
    const AttendingRows all{rows, context, forks, shared};
    return attention_seconds(run, shape, all, true) / attention_seconds(run, shape, all, false);
  };
  const auto name = [&](const char* what, std::size_t shared) {
    return std::string(shape.name) + what + std::to_string(rows) + " in fours, " +
           std::to_string(shared) + " of " + std::to_string(splits) + " splits shared";
  };
  const char* const unit = "of the time of rows alone";
  // A step takes rows together if half of all splits are shared (SharedSplits::is_half_shared):
  // those of three rows of four, so two thirds of theirs.
  for (const std::size_t shared : {splits, (2 * splits + 2) / 3})
    run.figures.judge(name(", attention together, B = ", shared), measured(shared), unit,
                      {Goal::Side::at_most, 1.0});
  // Below that it takes each row alone. If these are less than 1, the bound should be lower.
  for (const std::size_t shared : {splits / 2, splits / 4})
    run.figures.note(name(", rows that a step takes alone, but together, B = ", shared),
                     measured(shared), unit);
}

}  // namespace tempera::gpu
