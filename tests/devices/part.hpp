#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "gpu/core/model/arithmetic.hpp"

namespace tempera::gpu {

/// What one part of ./gpu-check has found.
struct Finding {
  enum class Verdict { holds, fails, not_run } verdict = Verdict::not_run;
  std::string words;               ///< one line for people
  nlohmann::ordered_json numbers;  ///< what was counted or measured
};

/// How much of a part is run.
enum class Extent {
  whole,
  quick,  ///< ./gpu-check --quick: a tenth of the vectors, and one figure of each kind
};

/// Parts of ./gpu-check, each in a source of its own name.
Finding tensor_core_against_model(Extent extent);
Finding tapes_against_host();
Finding law_of_ten_thousand_states();
Finding short_run();
Finding speed_against_the_device(Extent extent);
Finding measured_plans();
/// At a model's real size, on fibers at a small one: that every form gives the same bits.
Finding bits_at_real_size();
/// The tables of whole steps and of attention, for ./gpu-check --first-call.
Finding step_tables();
Finding attention_tables();
/// The forms of a step by turns on one card, for ./gpu-check --second-call.
Finding forms_by_turns();
/// The rates that all else is a fraction of.
Finding peaks_of_the_device();

/// Part 1 compares what a device has answered, [tiles, 16, 8] bits of float32, against the model.
/// instruction: which has taken the steps. arithmetic: whose steps they should be.
Finding steps_against_model(std::span<const std::uint32_t> results,
                            const std::string& instruction = "mma.sync",
                            Arithmetic arithmetic = Arithmetic::tensor_core);
/// The same of wgmma. If sums of whole numbers differ, which no rule can make inexact, it is not
/// run: an operand was not where the instruction looked for it, and nothing is said of its rule.
Finding wgmma_against_model(std::span<const std::uint32_t> results);

/// "holds", "FAILS" or "not run".
inline const char* word_for(Finding::Verdict verdict) {
  return verdict == Finding::Verdict::holds   ? "holds"
         : verdict == Finding::Verdict::fails ? "FAILS"
                                              : "not run";
}

}  // namespace tempera::gpu
