#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/llm/transformer/architectures/rope_factors.hpp"
#include "settings/choices.hpp"

// How every option's value is read, in one place: what it says is what is used, or it is refused by
// its flag, the value and the remedy. A value is one argument; a list is separated by commas.
namespace tempera::cli {

/// The parts of a text between commas, empty ones included: "1,,2" has three.
std::vector<std::string> parts_between_commas(const std::string& list);

/// A whole number in decimal digits, without sign or leading zeros, in [least, most].
struct WholeNumbers {
  std::uint64_t least = 0;
  std::uint64_t most = UINT64_MAX;
};

/// @throw BadInput naming `flag` for anything but digits, leading zeros, and out of range
std::uint64_t parse_whole_number(const std::string& text, const std::string& flag,
                                 WholeNumbers range);

/// A power: a decimal such as 2, 0.75 or 1e-3, without sign or leading zeros, in
/// [gpu::least_power, gpu::largest_power].
/// @throw BadInput naming `flag`
double parse_power(const std::string& text, const std::string& flag);

/// Whole numbers between commas.
/// @throw BadInput naming `flag`
std::vector<std::uint64_t> parse_whole_numbers(const std::string& list, const std::string& flag,
                                               WholeNumbers each);
/// Powers between commas.
/// @throw BadInput naming `flag`
std::vector<double> parse_powers(const std::string& list, const std::string& flag);
/// The weights of --restart-weights.
/// @throw BadInput naming `flag`, also for a single weight
std::vector<std::uint64_t> parse_restart_weights(const std::string& list, const std::string& flag);
/// A temperature: a decimal; gpu::resolve_sampler checks that its power is in range.
/// @throw BadInput naming `flag`
double parse_number(const std::string& text, const std::string& flag);
/// A number above 0, as a temperature is.
/// @throw as parse_number
double parse_temperature(const std::string& text, const std::string& flag);

/// A number of bytes, as add_bytes takes it.
/// @throw BadInput naming `flag`
std::size_t parse_bytes(const std::string& text, const std::string& flag);

/// Whether a text is a fraction such as 3/8 or a decimal such as 0.25 or 1e-9, without leading
/// zeros. It may have a sign: that a number must be positive is for those to say who know what it
/// is.
bool is_fraction(std::string_view text);

/// " (default: 4)", for a help text.
std::string default_text(const std::string& value);
std::string default_text(std::uint64_t value);

/// Declares an option of `command` whose value is one argument, which `read` takes.
CLI::Option* add_parsed(CLI::App& command, const std::string& flag, const std::string& placeholder,
                        const std::string& help,
                        const std::function<void(const std::string&)>& read);

// Each declares an option of `command` whose value goes to `value`, and leaves `value` as it is
// if the option is not given. `flag` is "--name". An empty value is refused everywhere.

CLI::Option* add_whole_number(CLI::App& command, const std::string& flag, std::size_t& value,
                              WholeNumbers range, const std::string& help);
/// The same for a value that is left open if the option is not given.
CLI::Option* add_whole_number(CLI::App& command, const std::string& flag,
                              std::optional<std::size_t>& value, WholeNumbers range,
                              const std::string& help);
CLI::Option* add_whole_numbers(CLI::App& command, const std::string& flag,
                               std::vector<std::size_t>& values, WholeNumbers each,
                               const std::string& help);
/// --restart-weights of a run's stages.
CLI::Option* add_restart_weights(CLI::App& command, std::vector<std::uint64_t>& weights);
/// "adj|deo", the names between bars.
template <class Choices>
std::string placeholder_of(const Choices& choices) {
  std::string names;
  for (const auto& choice : choices) names += (names.empty() ? "" : "|") + std::string(choice.name);
  return names;
}
/// --restart-range.
CLI::Option* add_restart_range(CLI::App& command, std::optional<gpu::RestartRange>& range);
/// --schedule.
CLI::Option* add_schedule(CLI::App& command, std::optional<gpu::Schedule>& schedule,
                          const std::string& help);
CLI::Option* add_token_numbers(CLI::App& command, const std::string& flag,
                               std::vector<std::uint32_t>& values, const std::string& help);
/// Any of 2^64 seeds.
CLI::Option* add_seed(CLI::App& command, std::uint64_t& value, const std::string& help);
/// One power, as a ladder of one rung.
CLI::Option* add_power(CLI::App& command, const std::string& flag, std::vector<double>& values,
                       const std::string& help);
CLI::Option* add_powers(CLI::App& command, const std::string& flag, std::vector<double>& values,
                        const std::string& help);
/// The text itself, of at least one character.
CLI::Option* add_text(CLI::App& command, const std::string& flag, std::string& value,
                      const std::string& what, const std::string& help);
/// Texts, one each time that the option is given, each of at least one character.
CLI::Option* add_texts(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                       const std::string& what, const std::string& help);
/// A number of seconds: a decimal such as 0.5, at most a million.
CLI::Option* add_seconds(CLI::App& command, const std::string& flag, double& value,
                         const std::string& help);
/// A number of bytes with its unit: B, KiB, MiB, GiB, TiB, or kB, MB, GB, TB; at least one byte.
CLI::Option* add_bytes(CLI::App& command, const std::string& flag, std::size_t& value,
                       const std::string& help);
/// One of these names.
CLI::Option* add_choice(CLI::App& command, const std::string& flag, std::string& value,
                        const std::vector<std::string>& names, const std::string& help);

/// --rope-factors short|long.
CLI::Option* add_rope_factors(CLI::App& command, std::optional<gpu::RopeFactors>& value);
/// --arithmetic, one of gpu::arithmetics by name; `help` says what is the default.
CLI::Option* add_arithmetic(CLI::App& command, std::optional<gpu::Arithmetic>& value,
                            const std::string& help = "default: float32");

/// --device host|cuda|cuda:N, for gpu::require_device.
CLI::Option* add_device(CLI::App& command, std::string& value);

/// --devices, for gpu::require_devices.
CLI::Option* add_devices(CLI::App& command, std::string& value);

/// --threads.
CLI::Option* add_threads(CLI::App& command, std::size_t& value);
/// @throw BadInput if --threads is given if this build does not compute on the host
void refuse_idle_threads(const CLI::Option& threads);

/// @throw BadInput if both are given: "--one: has no effect beside --other; why"
void refuse_beside(const CLI::Option& one, const CLI::Option& other, const std::string& why);
/// @throw BadInput if it is not given, or given an empty text: "--one: is missing; remedy"
void require(const CLI::Option& one, const std::string& remedy);

}  // namespace tempera::cli
