#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "settings/fields.hpp"

namespace tempera::serve {

/// A model as a client names it: the server's, and after a colon a sampler, as in "smollm2:ppt".
struct AskedModel {
  std::string model;
  std::string sampler;  ///< empty if none is named
};
/// Splits a name at its last colon if that is followed by the name of a sampler.
AskedModel asked_model(std::string_view name);

/// The most powers of a ladder. The scores of all its records take the square of this for each
/// position, and their sums over the vocabulary lengthen the passes of all clients.
inline constexpr std::size_t most_powers = 64;
/// @throw BadInput naming `where` for more powers than that
void require_few_powers(std::size_t powers, const std::string& where);

/// The samplers of requests that do not describe their own.
struct ServedSamplers {
  std::string default_sampler;  ///< empty: tokenwise sampling at the request's temperature
  gpu::SamplerWish settings;    ///< of the default sampler, and of others as far as they take them

  /// Takes the sampler of a wish as the default one.
  /// @throw BadInput as check()
  static ServedSamplers from_wish(gpu::SamplerWish wish, std::size_t most_horizon);

  /// Returns the settings of tokenwise sampling that a request begins with where nothing names a
  /// sampler: the rules of tokens and the temperature.
  gpu::SamplerWish tokenwise() const;

  /// Returns the settings that a request of this sampler begins with: those that it takes. A
  /// sampler of one power begins with the last of a ladder.
  gpu::SamplerWish beginning(std::string_view sampler) const;
  /// @throw BadInput naming the flag: for an unknown sampler, a setting that it does not take, and
  /// a horizon above `most_horizon`; and for more than most_powers
  void check(std::size_t most_horizon) const;
  /// Returns the names of the samplers that can begin with these settings.
  std::vector<std::string> names() const;
  /// Returns a text that differs where an answer may differ; empty if nothing was set.
  std::string text() const;
};

}  // namespace tempera::serve
