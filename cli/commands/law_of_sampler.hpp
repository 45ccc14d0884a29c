#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands/sampler_flags.hpp"
#include "reference/numbers/rational.hpp"
#include "settings/exact_wish.hpp"

namespace tempera::cli {

/// What `tempera law MODEL --sampler NAME` is asked, beside the model.
struct SamplerLawOptions {
  std::string sampler;
  gpu::ExactWish wish;
  std::vector<std::uint64_t> restart_weights;
  MoveOptions options;
  SamplerFlags tokens;
};

/// What `law` takes with or without --sampler.
struct SamplerLawModel {
  std::string model;
  std::size_t horizon = 0;
  std::vector<reference::Rational> powers;
  std::optional<gpu::Schedule> schedule;
  std::optional<gpu::RestartRange> restart_range;
  bool json = false;
};

/// Declares --sampler, which comes first, and what only samplers take, and returns them all.
std::vector<CLI::Option*> add_sampler_law_options(CLI::App& command, SamplerLawOptions& options);
/// Prints the exact law of the compiled sampler's answer beside the law that it is defined to have.
/// @throw BadInput for an option that the sampler does not take, and for too many states
void run_sampler_law(const CLI::App& command, const SamplerLawModel& asked,
                     const SamplerLawOptions& options);

}  // namespace tempera::cli
