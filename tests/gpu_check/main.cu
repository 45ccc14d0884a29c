// Holds Thrust's CUDA device system against one host thread, bit for bit. Built by the `cuda`
// preset, run by ./gpu-check on a machine with an NVIDIA GPU.
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/transform.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <vector>

#include "gpu/lottery/exponential.hpp"
#include "gpu/model/table_model.hpp"
#include "gpu/sampler/parallel_power_tempering.hpp"

using namespace tempera::gpu;

namespace {

/// How many values were compared, and how many differed.
struct Tally {
  std::size_t compared = 0;
  std::size_t different = 0;
  void compare(const void* a, const void* b, std::size_t size) {
    ++compared;
    if (std::memcmp(a, b, size) != 0) ++different;
  }
  void compare(const ScoredToken& a, const ScoredToken& b) {
    compare(&a.id, &b.id, sizeof a.id);
    compare(&a.log_p, &b.log_p, sizeof a.log_p);
    for (std::size_t k = 0; k < a.log_z.size(); ++k)
      compare(&a.log_z[k], &b.log_z[k], sizeof(double));
  }
};

bool report(const char* name, const Tally& tally) {
  std::printf("%-46s %10zu compared %8zu different\n", name, tally.compared, tally.different);
  return tally.different == 0 && tally.compared > 0;
}

float logit_of(std::uint32_t i, std::uint32_t row, std::uint64_t seed) {
  const Word word = philox({{i, row, 0, 0}}, seed);
  if (word.limb[1] % 32 == 0 && i != 0) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(word.limb[0] >> 8) * (24.0F / 16777216.0F) - 12.0F;
}

struct Exponential {
  TEMPERA_HOST_DEVICE double operator()(double x) const { return exponential(x); }
};
struct Logarithm {
  TEMPERA_HOST_DEVICE double operator()(double x) const { return logarithm(x); }
};

template <class Function>
void compare_function(double low, double high, Function function, Tally& tally) {
  constexpr std::uint32_t count = 1 << 20;
  thrust::host_vector<double> inputs(count);
  for (std::uint32_t i = 0; i < count; ++i)
    inputs[i] =
        low + (high - low) * (static_cast<double>(philox({{i, 1, 2, 3}}, 5).limb[0]) * 0x1p-32);
  const thrust::device_vector<double> device_inputs = inputs;
  thrust::device_vector<double> device_outputs(count);
  thrust::transform(device_inputs.begin(), device_inputs.end(), device_outputs.begin(), function);
  const thrust::host_vector<double> outputs = device_outputs;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double expected = function(inputs[i]);
    tally.compare(&outputs[i], &expected, sizeof expected);
  }
}

void compare_rows(std::size_t vocabulary, std::size_t count, Tally& tally) {
  const std::vector<double> powers{1.0, 1.6, 2.5, 4.0};
  std::vector<float> logits;
  std::vector<RowDraw> draws;
  for (std::uint32_t row = 0; row < count; ++row) {
    for (std::uint32_t i = 0; i < vocabulary; ++i) logits.push_back(logit_of(i, row, 11));
    const auto rung = static_cast<std::uint16_t>(row % powers.size());
    draws.push_back({powers, rung, {2026, {row, 5, rung, 3, 1, Purpose::proposal_token}}});
  }
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  PhiloxLottery lottery;
  const auto on_device = make_device_row_lottery()->draw(memory, vocabulary, draws, lottery);
  const auto on_host = make_host_row_lottery()->draw(memory, vocabulary, draws, lottery);
  for (std::size_t row = 0; row < count; ++row) tally.compare(on_device[row], on_host[row]);
}

std::vector<Record> tempered_run(RowLottery& rows, const Ladder& ladder, const Context& context,
                                 std::uint64_t seed) {
  constexpr std::size_t vocabulary = 5;
  TableModel model(vocabulary, [](std::span<const TokenId> prefix) {
    std::uint32_t row = 1;
    for (const TokenId token : prefix) row = row * 31 + token;
    std::vector<float> logits;
    for (std::uint32_t i = 0; i < vocabulary; ++i) logits.push_back(logit_of(i, row, 17) / 4.0F);
    return logits;
  });
  PhiloxLottery lottery;
  Engine engine(model, rows, lottery);
  Run run{engine, context, ladder, seed};
  const Plan plan{make_stages(16, 4, {8}, {2}, {1}), Schedule::adj, ladder.rungs() - 1};
  Progress progress;
  std::vector<Task> tasks;
  tasks.push_back(parallel_power_tempering(run, plan, progress));
  engine.run(tasks);
  return std::move(progress.replicas);
}

void compare_runs(Tally& tally) {
  const Ladder ladder({1.0, 1.6, 2.5, 4.0});
  const Context context{{}, {4}};
  const auto device_rows = make_device_row_lottery();
  const auto host_rows = make_host_row_lottery();
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto on_device = tempered_run(*device_rows, ladder, context, seed);
    const auto on_host = tempered_run(*host_rows, ladder, context, seed);
    for (std::size_t k = 0; k < ladder.rungs(); ++k) {
      const std::size_t lengths[2] = {on_device[k].length(), on_host[k].length()};
      tally.compare(&lengths[0], &lengths[1], sizeof lengths[0]);
      if (lengths[0] != lengths[1]) continue;
      for (std::size_t t = 0; t < lengths[0]; ++t)
        tally.compare(on_device[k].tokens()[t], on_host[k].tokens()[t]);
    }
  }
}

int check() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("gpu-check: NOT RUN: no NVIDIA GPU on this machine\n");
    return 77;
  }
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  std::printf("device %s, compute capability %d.%d; driver for CUDA %d.%d; runtime %d.%d\n",
              device.name, device.major, device.minor, driver / 1000, driver % 1000 / 10,
              runtime / 1000, runtime % 1000 / 10);

  bool equal = true;
  Tally exponentials;
  compare_function(-60.0, 0.0, Exponential{}, exponentials);
  compare_function(-720.0, 720.0, Exponential{}, exponentials);
  equal = report("exp, bits", exponentials) && equal;
  Tally logarithms;
  compare_function(0.5, 2.0, Logarithm{}, logarithms);
  compare_function(1.0, 0x1p+63, Logarithm{}, logarithms);
  equal = report("log, bits", logarithms) && equal;
  for (const auto& [vocabulary, count] :
       {std::pair<std::size_t, std::size_t>{2, 256}, {100, 256}, {2049, 64}, {151936, 8}}) {
    Tally rows;
    compare_rows(vocabulary, count, rows);
    const std::string name = "tickets, winners, scores, " + std::to_string(vocabulary) + " tokens";
    equal = report(name.c_str(), rows) && equal;
  }
  Tally runs;
  compare_runs(runs);
  equal = report("whole finite-model runs of PPT, K = 4", runs) && equal;
  std::printf("verdict: %s\n", equal ? "device and host agree bit for bit" : "DIFFERENT");
  return equal ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return check();
  } catch (const std::exception& error) {
    std::printf("gpu-check: %s\n", error.what());
    return 3;
  }
}
