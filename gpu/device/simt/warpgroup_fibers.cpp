#include <algorithm>
#include <limits>

#include "gpu/device/simt/fiber_machine.hpp"
#include "gpu/device/simt/warpgroup_steps.hpp"
#include "gpu/device/tensor_core.hpp"

namespace tempera::gpu::simt::inline on_fibers {

namespace {

constexpr unsigned step_inputs = 16;
constexpr unsigned matrix_rows = 8;
constexpr unsigned row_bytes = core_matrix_bytes / matrix_rows;

/// Where inputs 8 half … 8 half + 7 of a token are.
const unsigned char* core_matrix_row(const unsigned char* inputs, unsigned next_tokens,
                                     unsigned token, unsigned half) {
  return inputs + std::size_t{token / matrix_rows} * next_tokens +
         std::size_t{half} * core_matrix_bytes + std::size_t{token % matrix_rows} * row_bytes;
}

void read_token(const unsigned char* inputs, unsigned next_tokens, unsigned token,
                std::uint16_t (&numbers)[step_inputs]) {
  for (unsigned half = 0; half < 2; ++half)
    std::memcpy(numbers + std::size_t{8} * half, core_matrix_row(inputs, next_tokens, token, half),
                row_bytes);
}

std::uint64_t digest_of(const unsigned char* inputs, unsigned next_tokens, unsigned tokens) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
  std::uint64_t digest = 0;
  for (unsigned token = 0; token < tokens; ++token) {
    std::uint16_t numbers[step_inputs];
    read_token(inputs, next_tokens, token, numbers);
    std::uint64_t words[4];
    std::memcpy(words, numbers, sizeof words);
    for (const std::uint64_t word : words) digest = (digest ^ word) * factor + (digest >> 29);
  }
  return digest;
}

void require_finite(const std::uint16_t (&numbers)[step_inputs]) {
  for (const std::uint16_t bits : numbers)
    if ((bits & 0x7F80U) == 0x7F80U)
      fail("an operand of the tensor core is not a finite number: poison, or an overflow");
}

void require_shown(const unsigned char* inputs, unsigned next_tokens, unsigned tokens) {
  const std::vector<bool>& unshown = machine->block->unshown;
  for (unsigned token = 0; token < tokens; ++token)
    for (unsigned half = 0; half < 2; ++half)
      if (unshown[vector_of(core_matrix_row(inputs, next_tokens, token, half))])
        fail("a step of four warps reads a copy that was not shown to steps");
}

/// Weights of outputs g and g + 8: each lane has a quarter of two rows, as tensor_core_step takes
/// them.
void gather_weights(const Vector16& own, std::uint16_t (&weights)[2][step_inputs], Where where) {
  const unsigned first = lane() / 4 * 4;
  for (unsigned t = 0; t < 4; ++t) {
    const std::uint64_t low = exchange(own.x | std::uint64_t{own.y} << 32, first + t, where);
    const std::uint64_t high = exchange(own.z | std::uint64_t{own.w} << 32, first + t, where);
    for (unsigned row = 0; row < 2; ++row) {
      for (unsigned i = 0; i < 2; ++i) {
        weights[row][2 * t + i] = static_cast<std::uint16_t>(low >> (32 * row + 16 * i));
        weights[row][2 * t + 8 + i] = static_cast<std::uint16_t>(high >> (32 * row + 16 * i));
      }
    }
  }
}

/// The sums that steps add to: those that the thread waits for, or else its own.
PendingSums& pending(Thread& self, float* sums, unsigned count) {
  for (PendingSums& each : self.pending_sums)
    if (each.sums == sums) return each;
  self.pending_sums.push_back({sums, {sums, sums + count}, 0});
  return self.pending_sums.back();
}

/// When a thread has the sums of a step.
enum class SumsAre : unsigned { waited_for, there_at_once };

void step(float* sums, unsigned tokens, const Vector16& weights, const unsigned char* from,
          unsigned next_tokens, SumsAre sums_are, Where where) {
  Thread& self = machine->running();
  if (machine->stream->takes_ampere_steps) fail("steps of four warps are Hopper's alone");
  if (!self.steps_begun) fail("a step of four warps before begin_warpgroup_steps");
  std::uint16_t rows[2][step_inputs];
  gather_weights(weights, rows, where);
  for (const auto& row : rows) require_finite(row);
  if (lane() == 0) {  // for its warp, which reads them all
    require_shown(from, next_tokens, tokens);
    self.steps.push_back(
        {from, next_tokens, tokens, digest_of(from, next_tokens, tokens), self.step_groups});
  }
  PendingSums& kept = pending(self, sums, tokens / 2);
  kept.group = self.step_groups;
  for (unsigned i = 0; i < tokens / 2; ++i) {
    std::uint16_t token[step_inputs];
    read_token(from, next_tokens, i / 4 * matrix_rows + lane() % 4 * 2 + i % 2, token);
    require_finite(token);
    kept.values[i] = hopper_step(rows[i / 2 % 2], token, kept.values[i]);
  }
  if (sums_are == SumsAre::there_at_once) {
    std::copy(kept.values.begin(), kept.values.end(), sums);
    std::erase_if(self.pending_sums, [&](const PendingSums& each) { return each.sums == sums; });
    return;
  }
  std::fill_n(sums, tokens / 2, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace

void show_copies_to_steps() {
  Thread& self = machine->running();
  for (const std::size_t vector : self.unshown) machine->block->unshown[vector] = false;
  self.unshown.clear();
}

void begin_steps() { machine->running().steps_begun = true; }

void commit_warpgroup_steps() {
  Thread& self = machine->running();
  self.steps_begun = false;
  ++self.step_groups;
}

void wait_for_steps(std::size_t groups) {
  Thread& self = machine->running();
  const std::size_t ended = self.step_groups > groups ? self.step_groups - groups : 0;
  for (const PendingStep& step : self.steps) {
    if (step.group >= ended) continue;
    if (digest_of(step.inputs, step.next_tokens, step.tokens) != step.digest)
      fail("inputs of a step of four warps were written while it was in flight");
  }
  std::erase_if(self.steps, [&](const PendingStep& step) { return step.group < ended; });
  for (const PendingSums& each : self.pending_sums)
    if (each.group < ended) std::copy(each.values.begin(), each.values.end(), each.sums);
  std::erase_if(self.pending_sums, [&](const PendingSums& each) { return each.group < ended; });
}

void take_step(float* sums, unsigned tokens, const Vector16& weights, const void* inputs,
               unsigned next_tokens, Where where) {
  step(sums, tokens, weights, static_cast<const unsigned char*>(inputs), next_tokens,
       SumsAre::waited_for, where);
}

void take_described_step(float* sums, unsigned tokens, const Vector16& weights,
                         std::uint64_t inputs, bool adds, Where where) {
  constexpr std::uint64_t all = 0x3FFFU;
  const auto field = [&](unsigned begin) {
    return 16 * static_cast<unsigned>(inputs >> begin & all);
  };
  if ((inputs & ~(all | all << 16 | all << 32)) != 0 || field(16) != core_matrix_bytes || !adds)
    fail("a step of four warps in a way that no kernel of tempera takes one");
  step(sums, tokens, weights, coordinates.shared + field(0), field(32), SumsAre::there_at_once,
       where);
}

}  // namespace tempera::gpu::simt::inline on_fibers
