#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace tempera::gpu {

/// What one part of ./gpu-check has found.
struct Finding {
  enum class Verdict { holds, fails, not_run } verdict = Verdict::not_run;
  std::string words;               ///< one line for people
  nlohmann::ordered_json numbers;  ///< what was counted or measured
};

/// Parts of ./gpu-check, each in a source of its own name.
Finding tensor_core_against_model();
Finding tapes_against_host();
Finding law_of_ten_thousand_states();
Finding short_run();
Finding speed_against_the_device();

/// Of part 1: what a device has answered, [tiles, 16, 8] bits of float32, against the model.
Finding steps_against_model(std::span<const std::uint32_t> results);

/// "holds", "FAILS" or "not run".
inline const char* word_for(Finding::Verdict verdict) {
  return verdict == Finding::Verdict::holds   ? "holds"
         : verdict == Finding::Verdict::fails ? "FAILS"
                                              : "not run";
}

}  // namespace tempera::gpu
