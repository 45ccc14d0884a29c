#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/session/resolve.hpp"

namespace tempera::cli {

/// The options that say which sampler draws and all that it is asked for, as `sample` and `chat`
/// take them.
class SamplerFlags {
 public:
  /// Declares them of `command`; this object must outlive it.
  void add_to(CLI::App& command);
  /// What the options say, and nothing that they leave open.
  /// @throw BadInput for two that say the same
  gpu::SamplerWish wish() const;

 private:
  template <class Value>
  void keep(const CLI::Option* option, const Value& value,
            std::type_identity_t<std::optional<Value> gpu::SamplerWish::*> field);
  void add_ladder(CLI::App& command);
  void add_stages(CLI::App& command);
  void add_restarts(CLI::App& command);
  void add_answers(CLI::App& command);

  /// Each takes over what one option says, if it is given.
  std::vector<std::function<void(gpu::SamplerWish&)>> takeovers_;
  CLI::Option* horizon_option_ = nullptr;
  CLI::Option* max_tokens_option_ = nullptr;
  gpu::SamplerSettings said_;  ///< the values, of those that are given
  double temperature_ = 0.0;
  std::string schedule_;
  std::string restart_range_;
};

}  // namespace tempera::cli
