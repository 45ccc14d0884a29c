#pragma once

#include <array>
#include <string_view>

namespace tempera::gpu {

/// Which of longrope's two sets of factors of the rotary frequencies a run has, at every position.
/// A change of factors within a text would change what came before it, and p0 would be no law of
/// texts.
enum class RopeFactors {
  of_short_texts,  ///< and no text is longer than original_max_position_embeddings
  of_long_texts,
};

inline constexpr std::array rope_factor_sets{RopeFactors::of_short_texts,
                                             RopeFactors::of_long_texts};

/// "short" or "long".
constexpr std::string_view name_of(RopeFactors factors) {
  return factors == RopeFactors::of_short_texts ? "short" : "long";
}

}  // namespace tempera::gpu
