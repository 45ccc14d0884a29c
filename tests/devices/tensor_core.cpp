// Part 1: the device's tensor core against gpu/device/tensor_core.hpp, whose rule for its chip it
// is said to follow: by mma.sync, whose steps all kernels take, and by wgmma. If mma.sync fails,
// host equality of the chip's arithmetic is given up for the device.
#include "gpu/device/tensor_core.hpp"

#include <bit>
#include <vector>

#include "gpu/device/device_system.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/tensor_core_steps.hpp"

namespace tempera::gpu {

namespace {

constexpr const char* names[kinds_of_operands] = {"spread",        "subnormal",   "cancelling",
                                                  "extreme",       "with zeros",  "whole",
                                                  "of subnormals", "beside zeros"};

std::string difference(std::uint32_t tile, std::uint32_t row, std::uint32_t column,
                       std::uint32_t on_device, std::uint32_t by_model) {
  std::string text = "first difference (" + std::string(names[tile % kinds_of_operands]) + "): c ";
  char hex[16];
  const auto add = [&](unsigned value, const char* format) {
    std::snprintf(hex, sizeof hex, format, value);
    text += hex;
  };
  add(accumulator_bits(tile, row, column), "%08x");
  for (std::uint32_t matrix = 0; matrix < 2; ++matrix) {
    text += matrix == 0 ? ", a" : ", b";
    for (std::uint32_t k = 0; k < 16; ++k)
      add(operand_bits(tile, matrix, matrix == 0 ? row : column, k), " %04x");
  }
  text += ": device ";
  add(on_device, "%08x");
  text += ", model ";
  add(by_model, "%08x");
  return text;
}

}  // namespace

Finding steps_against_model(std::span<const std::uint32_t> results, const std::string& instruction,
                            Arithmetic arithmetic) {
  const bool of_ampere = arithmetic == Arithmetic::tensor_core_ampere;
  const auto tiles = static_cast<std::uint32_t>(results.size() / 128);
  std::uint64_t different[kinds_of_operands] = {};
  std::uint64_t in_all = 0;
  std::uint64_t from_other = 0;
  std::string first;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    std::uint16_t operands[2][16][16];
    for (std::uint32_t row = 0; row < 16; ++row)
      for (std::uint32_t k = 0; k < 16; ++k)
        for (std::uint32_t matrix = 0; matrix < 2; ++matrix)
          operands[matrix][row][k] = operand_bits(tile, matrix, row, k);
    for (std::uint32_t row = 0; row < 16; ++row) {
      for (std::uint32_t column = 0; column < 8; ++column) {
        const auto c = std::bit_cast<float>(accumulator_bits(tile, row, column));
        const auto by_hopper =
            std::bit_cast<std::uint32_t>(hopper_step(operands[0][row], operands[1][column], c));
        const auto by_ampere =
            std::bit_cast<std::uint32_t>(ampere_step(operands[0][row], operands[1][column], c));
        const std::uint32_t by_model = of_ampere ? by_ampere : by_hopper;
        const std::uint32_t on_device = results[(std::size_t{tile} * 16 + row) * 8 + column];
        if (on_device != (of_ampere ? by_hopper : by_ampere)) ++from_other;
        if (on_device == by_model) continue;
        if (in_all == 0) first = difference(tile, row, column, on_device, by_model);
        ++different[tile % kinds_of_operands];
        ++in_all;
      }
    }
  }
  Finding finding;
  finding.verdict = in_all == 0 ? Finding::Verdict::holds : Finding::Verdict::fails;
  finding.numbers["vectors"] = results.size();
  finding.numbers["different"] = in_all;
  finding.numbers["model"] = of_ampere ? "Ampere and Ada" : "Hopper";
  finding.numbers["different_from_the_other_model"] = from_other;
  for (std::uint32_t kind = 0; kind < kinds_of_operands; ++kind)
    finding.numbers["different_by_kind"][names[kind]] = different[kind];
  finding.words = std::to_string(in_all) + " of " + std::to_string(results.size()) + " steps of " +
                  instruction + " differ from " + (of_ampere ? "Ampere's" : "Hopper's") + " model";
  if (in_all != 0)
    finding.words += "; " + std::to_string(from_other) + " differ from " +
                     (of_ampere ? "Hopper's" : "Ampere's") + "; " + first;
  return finding;
}

Finding wgmma_against_model(std::span<const std::uint32_t> results) {
  Finding finding = steps_against_model(results, "wgmma", Arithmetic::tensor_core);
  if (finding.numbers["different_by_kind"]["whole"] == 0) return finding;
  finding.verdict = Finding::Verdict::not_run;
  finding.words =
      "the probe is wrong: whole numbers, whose sums are exact, differ: " + finding.words;
  return finding;
}

namespace {

Finding wgmma_on_device(std::uint32_t tiles) {
  Finding finding;
  finding.words = why_no_wgmma();
  if (!finding.words.empty()) return finding;
  try {
    std::vector<std::uint32_t> results(std::size_t{tiles} * 128);
    take_wgmma_steps(tiles, results.data());
    return wgmma_against_model(results);
  } catch (const std::exception& error) {
    finding.verdict = Finding::Verdict::fails;
    finding.words = error.what();
    return finding;
  }
}

}  // namespace

Finding tensor_core_against_model(Extent extent) {
  // 10^7 vectors on a device, 10^6 of them in haste; on fibers, where the model answers for itself,
  // a few for the frame.
  const std::uint32_t on_device = extent == Extent::quick ? 7813 : 78125;
  const std::uint32_t tiles = device_system() == "CUDA" ? on_device : 60;
  std::vector<std::uint32_t> results(std::size_t{tiles} * 128);
  take_tensor_core_steps(tiles, results.data());
  Finding finding = steps_against_model(results, "mma.sync", own_arithmetic());
  if (finding.verdict == Finding::Verdict::fails)
    finding.words +=
        "; host equality of " + std::string(name_of(own_arithmetic())) + " is given up here";
  const Finding wgmma = wgmma_on_device(tiles);
  finding.words += std::string("; wgmma: ") + word_for(wgmma.verdict) + ": " + wgmma.words;
  finding.numbers["wgmma"] = {{"verdict", word_for(wgmma.verdict)}, {"words", wgmma.words}};
  finding.numbers["wgmma"]["numbers"] = wgmma.numbers;
  if (wgmma.verdict == Finding::Verdict::fails) finding.verdict = Finding::Verdict::fails;
  return finding;
}

}  // namespace tempera::gpu
