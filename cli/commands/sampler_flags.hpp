#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "settings/fields.hpp"

namespace tempera::cli {

/// The options of a sampler's settings, a flag for each row of settings/fields.hpp.
class SamplerFlags {
 public:
  enum class Of : std::uint8_t {
    run,         ///< every setting
    one_answer,  ///< those of a single answer
    token,       ///< the rules of a token
    server       ///< those that a request may leave open; the sampler is --default-sampler
  };
  /// Declares the flags of `command`, which must not outlive this object, and returns them.
  std::vector<CLI::Option*> add_to(CLI::App& command, Of which);
  /// Returns what the options say.
  /// @throw BadInput for a flag and its alias together
  const gpu::SamplerWish& wish() const;

 private:
  gpu::SamplerWish said_;
  /// Flags that have another name, with that name's.
  std::vector<std::pair<const CLI::Option*, const CLI::Option*>> aliases_;
};

}  // namespace tempera::cli
