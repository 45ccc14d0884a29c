#include "cli/commands/sampler_flags.hpp"

#include "cli/terminal/columns.hpp"
#include "cli/terminal/option_values.hpp"
#include "gpu/session/cost.hpp"
#include "gpu/session/defaults.hpp"
#include "gpu/session/presets.hpp"

namespace tempera::cli {
namespace {

// What a draw's address tells apart (gpu/core/lottery/draw_address.hpp).
constexpr std::size_t most_rungs = 65535;

/// What --sampler takes.
std::string sampler_help() {
  std::string help = "Sampler (default: ppt; with --temperature low-temperature)";
  for (const gpu::NamedSampler& named : gpu::named_samplers())
    help += "; " + std::string(named.name) + ": " + std::string(named.description);
  return help;
}

}  // namespace

template <class Value>
void SamplerFlags::keep(const CLI::Option* option, const Value& value,
                        std::type_identity_t<std::optional<Value> gpu::SamplerWish::*> field) {
  takeovers_.emplace_back([option, &value, field](gpu::SamplerWish& wish) {
    if (option->count() > 0) wish.*field = value;
  });
}

void SamplerFlags::add_to(CLI::App& command) {
  keep(add_text(command, "--sampler", said_.sampler, "NAME", sampler_help()), said_.sampler,
       &gpu::SamplerWish::sampler);
  add_ladder(command);
  add_stages(command);
  add_restarts(command);
  add_answers(command);
}

void SamplerFlags::add_ladder(CLI::App& command) {
  keep(add_powers(
           command, "--powers", said_.powers,
           "Powers of the rungs, strictly increasing; one power is a single chain (default: " +
               decimals_of({gpu::defaults::powers.begin(), gpu::defaults::powers.end()}) +
               "; of a sampler of one power " + decimal_of(gpu::defaults::powers.back()) +
               ", of best-of-n 1)"),
       said_.powers, &gpu::SamplerWish::powers);
  keep(add_temperature(command, temperature_,
                       "Temperature t of tokenwise sampling (--sampler low-temperature): its power "
                       "is 1/t. It is not the law of whole answers that --powers asks for"),
       temperature_, &gpu::SamplerWish::temperature);
  keep(add_whole_number(
           command, "--particles", said_.particles, {1, gpu::most_particles},
           "N of power-smc, which looks at the weights after each block, and of best-of-n" +
               default_text(gpu::defaults::particles)),
       said_.particles, &gpu::SamplerWish::particles);
  keep(add_whole_number(command, "--most-tokens", said_.most_tokens, {1, gpu::largest_token_limit},
                        "The most tokens that the proposals of one answer of exact-rejection may "
                        "take, after which it is \"not drawn\" (default: any number)"),
       said_.most_tokens, &gpu::SamplerWish::most_tokens);
}

void SamplerFlags::add_stages(CLI::App& command) {
  horizon_option_ = add_whole_number(command, "--horizon", said_.horizon, {1, gpu::longest_horizon},
                                     "Horizon T: the longest answer, in tokens (default: " +
                                         std::to_string(gpu::defaults::horizon) +
                                         ", and after a prompt that leaves less room, that)");
  keep(horizon_option_, said_.horizon, &gpu::SamplerWish::horizon);
  max_tokens_option_ = add_whole_number(command, "--max-tokens", said_.horizon,
                                        {1, gpu::longest_horizon}, "Another name of --horizon");
  keep(max_tokens_option_, said_.horizon, &gpu::SamplerWish::horizon);
  keep(add_whole_number(command, "--block", said_.block, {1, gpu::longest_horizon},
                        "Block width B of the stages (default: T/4)"),
       said_.block, &gpu::SamplerWish::block);
  keep(add_whole_numbers(
           command, "--rounds", said_.rounds, {0, gpu::addressable_turns - 1},
           "Rounds N_m: one number, or one for each stage" + default_text(gpu::defaults::rounds)),
       said_.rounds, &gpu::SamplerWish::rounds);
  keep(add_whole_numbers(command, "--local-moves", said_.local_moves,
                         {0, gpu::addressable_turns - 1},
                         "Local moves of each rung in a round, n_local: one number, or one for "
                         "each stage" +
                             default_text(gpu::defaults::local_moves)),
       said_.local_moves, &gpu::SamplerWish::local_moves);
  keep(add_whole_numbers(command, "--sweeps", said_.sweeps, {0, gpu::addressable_turns - 1},
                         "Sweeps in a round, n_sweep: one number, or one for each stage" +
                             default_text(gpu::defaults::sweeps)),
       said_.sweeps, &gpu::SamplerWish::sweeps);
  const CLI::Option* schedule = add_choice(
      command, "--schedule", schedule_, {"adj", "deo"},
      "adj: ordered sweeps over all edges; deo: even and odd edges in turn (default: adj)");
  takeovers_.emplace_back([this, schedule](gpu::SamplerWish& wish) {
    if (schedule->count() > 0)
      wish.schedule = schedule_ == "deo" ? gpu::Schedule::deo : gpu::Schedule::adj;
  });
}

void SamplerFlags::add_restarts(CLI::App& command) {
  keep(add_restart_weights(command, said_.restart_weights), said_.restart_weights,
       &gpu::SamplerWish::restart_weights);
  const CLI::Option* range = add_restart_range(command, restart_range_);
  takeovers_.emplace_back([this, range](gpu::SamplerWish& wish) {
    if (range->count() > 0)
      wish.restart_range =
          restart_range_ == "record" ? gpu::RestartRange::record : gpu::RestartRange::horizon;
  });
}

void SamplerFlags::add_answers(CLI::App& command) {
  keep(add_whole_number(command, "--output-rung", said_.output, {1, most_rungs},
                        "Rung whose record is the answer, from 1 (default: the last)"),
       said_.output, &gpu::SamplerWish::output_rung);
  add_texts(command, "--stop", said_.stop, "TEXT",
            "The answer ends before this text; may be given several times. The sampler's law stays "
            "that of whole records, and the record that it has drawn is cut there");
  takeovers_.emplace_back([this](gpu::SamplerWish& wish) { wish.stop = said_.stop; });
  keep(add_seed(command, said_.seed,
                "The same seed gives the same answers, from 0 to 2^64 - 1" +
                    default_text(gpu::defaults::seed)),
       said_.seed, &gpu::SamplerWish::seed);
  keep(add_text(command, "--preset", said_.preset, "NAME",
                "The paper's values for powers, horizon, block and rounds (tempera presets lists "
                "them); an option given beside it overrides its value"),
       said_.preset, &gpu::SamplerWish::preset);
  command.add_flag("--early-rejection", said_.options.early_rejection,
                   "End a proposal as soon as its rejection is certain: no answer, record or "
                   "acceptance changes, only the tokens drawn");
  add_whole_number(
      command, "--prefetch", said_.options.prefetch, {0, gpu::most_prefetch},
      "Local moves of each rung that may begin ahead of the one under way, those of the stage's "
      "later rounds too. They begin as if no move or swap before them changed the record "
      "(default: " +
          std::to_string(said_.options.prefetch) +
          "). Fewer steps if a batch has rows left; wasted tokens if a record did. It changes no "
          "answer and no event");
  takeovers_.emplace_back([this](gpu::SamplerWish& wish) { wish.options = said_.options; });
}

gpu::SamplerWish SamplerFlags::wish() const {
  refuse_beside(*max_tokens_option_, *horizon_option_, "give one of the two: they say the same");
  gpu::SamplerWish wish;
  for (const auto& take_over : takeovers_) take_over(wish);
  return wish;
}

}  // namespace tempera::cli
