#include <algorithm>
#include <vector>

#include "gpu/core/lottery/cuda/queue_draw.cuh"
#include "gpu/core/lottery/draw_address.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/weights/filled_tensors.hpp"
#include "tests/devices/device_rates.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/some_inputs.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

namespace {

/// Logits that are about normal, with this standard deviation.
std::vector<float> spread_logits(std::size_t rows, std::size_t vocabulary, float spread) {
  std::vector<float> logits(rows * vocabulary);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // A sum of four uniforms.
    const Word word = philox({{static_cast<std::uint32_t>(i), 0, 0, 0}}, 9);
    float sum = 0.0F;
    for (const std::uint32_t limb : word.limb) sum += static_cast<float>(limb >> 8) / 16777216.0F;
    logits[i] = (sum - 2.0F) * 1.7320508F * spread;
  }
  return logits;
}

}  // namespace

}  // namespace tempera::gpu

#if defined(TEMPERA_DEVICE_CUDA)

namespace tempera::gpu {

inline namespace TEMPERA_SIMT_FORM {

/// Launch: any number of blocks of 256. sums: [blocks].
TEMPERA_KERNEL(256) read_all(const uint4* memory, std::uint64_t count, std::uint32_t* sums) {
  std::uint32_t sum = 0;
  const std::uint64_t stride = std::uint64_t{simt::blocks().x} * 256;
#pragma unroll 8
  for (std::uint64_t i = std::uint64_t{simt::block().x} * 256 + simt::thread(); i < count;
       i += stride) {
    const uint4 words = __ldcs(memory + i);
    sum ^= words.x ^ words.y ^ words.z ^ words.w;
  }
  if (sum == 0x9E3779B9U) sums[simt::block().x] = sum;  // so that the loads are not left out
}

/// Launch: any number of blocks of 256. Each warp takes 8 chains of `steps` steps.
TEMPERA_KERNEL(256) multiply_all(std::uint32_t steps, float* sums) {
  float d[8][4] = {};
  const simt::Vector16 a{simt::thread(), simt::thread() + 1, 3, 4};
  for (std::uint32_t step = 0; step < steps; ++step) {
    TEMPERA_UNROLL
    for (int chain = 0; chain < 8; ++chain) simt::tensor_core_step(d[chain], a, step, 7);
  }
  float sum = 0.0F;
  TEMPERA_UNROLL
  for (int chain = 0; chain < 8; ++chain) sum += d[chain][0] + d[chain][3];
  if (sum == 1.0F) sums[simt::block().x] = sum;
}

}  // namespace TEMPERA_SIMT_FORM

namespace {

unsigned multiprocessors() {
  int device = 0;
  int count = 0;
  simt::require_success(cudaGetDevice(&device), "the device");
  simt::require_success(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                        "the device's multiprocessors");
  return static_cast<unsigned>(count);
}

}  // namespace

double read_bandwidth(const DeviceClock& clock) {
  std::size_t free = 0;
  std::size_t total = 0;
  simt::require_success(cudaMemGetInfo(&free, &total), "the device's memory");
  const std::size_t bytes = std::min(free / 2, std::size_t{4} << 30) / 4096 * 4096;
  DeviceMemory<std::uint32_t> memory(bytes / 4);
  const unsigned blocks = 8 * multiprocessors();
  DeviceMemory<std::uint32_t> sums(blocks);
  simt::Stream stream;
  double best = 0.0;
  for (int i = 0; i < 6; ++i) {
    const double seconds = clock.seconds_of([&] {
      simt::launch({.blocks = {blocks, 1, 1}, .threads = 256}, stream, read_all,
                   reinterpret_cast<const uint4*>(memory.data()), bytes / 16, sums.data());
    });
    if (i > 0)
      best = std::max(best, static_cast<double>(bytes) / seconds);  // the first one warms up
  }
  return best;
}

double matrix_peak(const DeviceClock& clock) {
  constexpr std::uint32_t steps = 20000;
  const unsigned blocks = 4 * multiprocessors();
  DeviceMemory<float> sums(blocks);
  simt::Stream stream;
  double best = 0.0;
  for (int i = 0; i < 6; ++i) {
    const double seconds = clock.seconds_of([&] {
      simt::launch({.blocks = {blocks, 1, 1}, .threads = 256}, stream, multiply_all, steps,
                   sums.data());
    });
    const double operations = 2.0 * 16 * 8 * 16 * 8 * steps * 8 * blocks;
    if (i > 0) best = std::max(best, operations / seconds);
  }
  return best;
}

double draw_seconds(const Timing& timing, std::size_t rows, std::size_t vocabulary,
                    std::size_t rungs, float spread) {
  std::vector<float> logits = spread_logits(rows, vocabulary, spread);
  constexpr std::size_t width = 16;  // outputs of a tile of the head
  const std::size_t tiles = (vocabulary + width - 1) / width;
  std::vector<float> largest(rows * tiles, -3.4028234663852886e38F);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t v = 0; v < vocabulary; ++v)
      largest[row * tiles + v / width] =
          std::max(largest[row * tiles + v / width], logits[row * vocabulary + v]);
  std::vector<RowRequest> requests(rows);
  std::vector<double> powers;
  for (std::size_t row = 0; row < rows; ++row) {
    requests[row].first_rung = powers.size();
    requests[row].rungs = static_cast<std::uint32_t>(rungs);
    requests[row].rung = static_cast<std::uint32_t>(row % rungs);
    requests[row].counter = counter_of({static_cast<std::uint32_t>(row), 0, 0, 0, 0});
    requests[row].seed = 1;
    for (std::size_t k = 0; k < rungs; ++k) powers.push_back(1.0 + 0.6 * static_cast<double>(k));
  }
  RowBatch batch;
  batch.rows = rows;
  batch.vocabulary = vocabulary;
  batch.chunks = (vocabulary + RowBatch::chunk - 1) / RowBatch::chunk;
  const DeviceMemory<float> device_logits{std::span<const float>(logits)};
  const DeviceMemory<float> device_largest{std::span<const float>(largest)};
  const DeviceMemory<double> device_powers{std::span<const double>(powers)};
  DeviceMemory<std::uint64_t> words(rows * sizeof(RowRequest) / 8);
  static_assert(sizeof(RowRequest) % 8 == 0 && sizeof(GrainSum) == 16);
  words.upload({reinterpret_cast<const std::uint64_t*>(requests.data()), words.size()});
  DeviceMemory<float> row_largest(rows);
  DeviceMemory<std::uint64_t> ticket_sums(batch.chunks * powers.size());
  DeviceMemory<std::uint64_t> grain_sums(2 * rows * batch.chunks);
  DeviceMemory<std::uint32_t> status(rows);
  DeviceMemory<std::uint64_t> token(rows);
  DeviceMemory<double> log_p(rows);
  DeviceMemory<double> log_z(powers.size());
  batch.logits = device_logits.data();
  batch.powers = device_powers.data();
  batch.requests = reinterpret_cast<const RowRequest*>(words.data());
  batch.largest = row_largest.data();
  batch.ticket_sums = ticket_sums.data();
  batch.grain_sums = reinterpret_cast<GrainSum*>(grain_sums.data());
  batch.status = status.data();
  batch.token = token.data();
  batch.log_p = log_p.data();
  batch.log_z = log_z.data();
  const std::uint64_t blocks = 4 * multiprocessors();
  simt::Stream stream;
  return seconds_per_call(timing,
                          [&] { queue_draw(batch, device_largest.data(), tiles, blocks, stream); });
}

}  // namespace tempera::gpu

#else

namespace tempera::gpu {

double read_bandwidth(const DeviceClock& clock) {
  constexpr std::size_t words = std::size_t{8} << 20;
  const std::vector<std::uint64_t> memory(words, 1);
  std::uint64_t sum = 0;
  double best = 0.0;
  for (int i = 0; i < 6; ++i) {
    const double seconds = clock.seconds_of([&] {
      for (const std::uint64_t word : memory) sum += word;
    });
    if (i > 0) best = std::max(best, 8.0 * static_cast<double>(words) / seconds);
  }
  // The sum is used, so that the reads are not left out.
  return sum == 6 * words ? best : 0.0;
}

double matrix_peak(const DeviceClock& clock) {
  constexpr std::size_t size = 256;
  constexpr std::size_t rows = 64;
  const Kernels& kernels = default_kernels(own_arithmetic());
  FilledTensors tensors(1);
  const PackedMatrix matrix = tensors.matrix("weights", size, size, Arithmetic::tensor_core);
  DeviceMemory<std::uint16_t> inputs = some_inputs(rows * size);
  DeviceMemory<float> outputs(rows * size);
  double best = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double seconds = clock.seconds_of([&] {
      kernels.multiply(matrix.view(), {nullptr, inputs.data()}, rows, size, outputs.data());
    });
    best = std::max(best, 2.0 * static_cast<double>(rows * size * size) / seconds);
  }
  return best;
}

double draw_seconds(const Timing& timing, std::size_t rows, std::size_t vocabulary,
                    std::size_t rungs, float spread) {
  const DeviceMemory<float> logits{std::span<const float>(spread_logits(rows, vocabulary, spread))};
  std::vector<double> powers;
  for (std::size_t k = 0; k < rungs; ++k) powers.push_back(1.0 + 0.6 * static_cast<double>(k));
  std::vector<RowDraw> draws;
  for (std::uint32_t row = 0; row < rows; ++row)
    draws.push_back({powers, row % rungs, {1, {row, 0, 0, 0, 0}}});
  const auto lottery = make_device_row_lottery();
  PhiloxLottery philox_lottery;
  return seconds_per_call(timing,
                          [&] { lottery->draw(logits, vocabulary, draws, philox_lottery); });
}

}  // namespace tempera::gpu

#endif
