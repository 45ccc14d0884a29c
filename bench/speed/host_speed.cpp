#include "bench/speed/host_speed.hpp"

#include <algorithm>
#include <vector>

namespace tempera::gpu {

namespace {

constexpr std::size_t full_batch = 64;
constexpr std::size_t prompt_tokens = 64;

/// Records of two stages, with `moves` moves of each rung in each.
MeasuredRuntime run(Transformer& model, std::vector<double> powers, std::size_t problems,
                    std::size_t moves) {
  PaperSettings settings;
  settings.horizon = 32;
  settings.block = 16;
  settings.prompt = prompt_tokens;
  PaperRuntime row;
  const std::size_t rungs = powers.size();
  row.powers = std::move(powers);
  // A move of the first stage draws 8.5 tokens in the mean, of the second 16.5.
  row.decode_tokens = rungs * (settings.horizon + moves * 25);
  return measure_runtime(model, row, settings, problems, 0.0);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

HostSpeed measure_host_speed(Transformer& model) {
  HostSpeed speed;
  run(model, {2.0}, 1, 0);  // memory is taken, threads are started
  // In pairs: what a shared machine can do changes from second to second.
  const auto measure_limits = [&] {
    const HostLimits limits = measure_host_limits();
    speed.limits.read_bytes_per_second =
        std::max(speed.limits.read_bytes_per_second, limits.read_bytes_per_second);
    speed.limits.multiply_adds_per_second =
        std::max(speed.limits.multiply_adds_per_second, limits.multiply_adds_per_second);
    return limits;
  };
  std::vector<double> of_reading, of_multiply_adds;
  for (int i = 0; i < 5; ++i) {
    const HostLimits limits = measure_limits();
    const double rate = run(model, {2.0}, 1, 0).tokens_per_second();
    speed.alone_tokens_per_second = std::max(speed.alone_tokens_per_second, rate);
    of_reading.push_back(rate / limits.read_bytes_per_second);
  }
  for (int i = 0; i < 3; ++i) {
    const HostLimits limits = measure_limits();
    // No moves: every step has all of its rows.
    const MeasuredRuntime full = run(model, {2.0}, full_batch, 0);
    const double rate = static_cast<double>(full.decoded.tokens) / full.times.forward;
    speed.pass_tokens_per_second = std::max(speed.pass_tokens_per_second, rate);
    of_multiply_adds.push_back(rate / limits.multiply_adds_per_second);
  }
  speed.alone_tokens_per_byte = median(of_reading);
  speed.pass_tokens_per_multiply_add = median(of_multiply_adds);
  const MeasuredRuntime one = run(model, {2.0}, full_batch, 1);
  const MeasuredRuntime four = run(model, {1.0, 1.25, 1.6, 2.0}, full_batch / 4, 1);
  speed.full_tokens_per_second = one.tokens_per_second();
  speed.full_of_4_tokens_per_second = four.tokens_per_second();
  speed.prompt_tokens_per_second =
      static_cast<double>(full_batch * prompt_tokens) / one.prompt_seconds;
  const double steps = four.times.forward + four.times.draw;
  speed.draw_of_a_step = four.times.draw / steps;
  speed.rest_of_a_run = 1.0 - steps / four.decoded.seconds;
  return speed;
}

}  // namespace tempera::gpu
