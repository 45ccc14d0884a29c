#include "cli/terminal/option_values.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/stages.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"

namespace tempera::cli {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_canonical(std::string_view digits) {
  return all_digits(digits) && (digits.size() == 1 || digits.front() != '0');
}

/// Whether reference::parse_rational takes it: at most three digits.
bool is_exponent(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return all_digits(text) && text.size() <= 3;
}

bool is_decimal(std::string_view text) {
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    if (!is_exponent(text.substr(e + 1))) return false;
    text = text.substr(0, e);
  }
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return is_canonical(text);
  return is_canonical(text.substr(0, point)) && all_digits(text.substr(point + 1));
}

std::string one_of(WholeNumbers range) {
  return "give a whole number from " + std::to_string(range.least) + " to " +
         std::to_string(range.most);
}

void require_text(const std::string& text, const std::string& flag, const std::string& remedy) {
  if (text.empty()) throw BadInput(flag, "\"\" is empty", remedy);
}

}  // namespace

std::vector<std::string> parts_between_commas(const std::string& list) {
  std::vector<std::string> parts{""};
  for (const char c : list) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::uint64_t parse_whole_number(const std::string& text, const std::string& flag,
                                 WholeNumbers range) {
  if (!is_canonical(text))
    throw BadInput(flag, in_quotes(text) + " is not a whole number",
                   one_of(range) + ", in digits and without leading zeros");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < range.least || value > range.most)
    throw BadInput(flag, in_quotes(text) + " is out of range", one_of(range));
  return value;
}

std::vector<std::uint64_t> parse_whole_numbers(const std::string& list, const std::string& flag,
                                               WholeNumbers each) {
  std::vector<std::uint64_t> values;
  for (const std::string& part : parts_between_commas(list))
    values.push_back(parse_whole_number(part, flag, each));
  return values;
}

double parse_power(const std::string& text, const std::string& flag) {
  constexpr const char* remedy =
      "give a decimal such as 2, 0.75 or 1e-3, from 2^-20 to 2^20 (1048576); a list has commas and "
      "no "
      "spaces";
  if (!is_decimal(text)) throw BadInput(flag, in_quotes(text) + " is not a power", remedy);
  double power = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), power);
  if (error != std::errc() || power < gpu::least_power || power > gpu::largest_power)
    throw BadInput(flag, "the power " + in_quotes(text) + " is out of range", remedy);
  return power;
}

std::vector<double> parse_powers(const std::string& list, const std::string& flag) {
  std::vector<double> values;
  for (const std::string& part : parts_between_commas(list))
    values.push_back(parse_power(part, flag));
  return values;
}

std::vector<std::uint64_t> parse_restart_weights(const std::string& list, const std::string& flag) {
  auto weights = parse_whole_numbers(list, flag, {0, gpu::largest_restart_weight});
  if (weights.size() < 2)
    throw BadInput(flag, "one weight makes the uniform law", "give two or more, or leave it out");
  return weights;
}

double parse_temperature(const std::string& text, const std::string& flag) {
  constexpr const char* remedy = "give a decimal such as 0.25, whose power is 4";
  if (!is_decimal(text)) throw BadInput(flag, in_quotes(text) + " is not a temperature", remedy);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    throw BadInput(flag, "the temperature " + in_quotes(text) + " is out of range", remedy);
  return value;
}

double parse_number(const std::string& text, const std::string& flag) {
  const bool is_below_0 = text.starts_with('-');
  const std::string digits = text.substr(is_below_0 ? 1 : 0);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (!is_decimal(digits) || error != std::errc())
    throw BadInput(flag, in_quotes(text) + " is not a number", "give a decimal such as 0.9");
  return is_below_0 ? -value : value;
}

bool is_fraction(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_decimal(text);
  return is_canonical(text.substr(0, slash)) && is_canonical(text.substr(slash + 1));
}

std::size_t parse_bytes(const std::string& text, const std::string& flag) {
  static const std::map<std::string, double> units{
      {"B", 1.0},  {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
      {"kB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  constexpr const char* remedy = "give a number with its unit, such as 512MiB, 1.5GiB or 2GB";
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto unit = units.find(text.substr(digits));
  if (!is_decimal(std::string_view(text).substr(0, digits)) || unit == units.end())
    throw BadInput(flag, in_quotes(text) + " is not a number of bytes", remedy);
  double value = 0.0;
  std::from_chars(text.data(), text.data() + digits, value);
  value *= unit->second;
  if (!(value >= 1.0 && value <= 0x1p50))
    throw BadInput(flag, in_quotes(text) + " is out of range", "give from 1B to 1024TiB");
  return static_cast<std::size_t>(value);
}

std::string default_text(const std::string& value) { return " (default: " + value + ")"; }

std::string default_text(std::uint64_t value) { return default_text(std::to_string(value)); }

CLI::Option* add_parsed(CLI::App& command, const std::string& flag, const std::string& placeholder,
                        const std::string& help,
                        const std::function<void(const std::string&)>& read) {
  return command.add_option_function<std::string>(flag, read, help)->type_name(placeholder);
}

CLI::Option* add_whole_number(CLI::App& command, const std::string& flag, std::size_t& value,
                              WholeNumbers range, const std::string& help) {
  return add_parsed(command, flag, "N", help, [&value, flag, range](const std::string& text) {
    value = parse_whole_number(text, flag, range);
  });
}

CLI::Option* add_whole_number(CLI::App& command, const std::string& flag,
                              std::optional<std::size_t>& value, WholeNumbers range,
                              const std::string& help) {
  return add_parsed(command, flag, "N", help, [&value, flag, range](const std::string& text) {
    value = parse_whole_number(text, flag, range);
  });
}

CLI::Option* add_whole_numbers(CLI::App& command, const std::string& flag,
                               std::vector<std::size_t>& values, WholeNumbers each,
                               const std::string& help) {
  return add_parsed(command, flag, "N[,N...]", help,
                    [&values, flag, each](const std::string& list) {
                      values = parse_whole_numbers(list, flag, each);
                    });
}

CLI::Option* add_restart_weights(CLI::App& command, std::vector<std::uint64_t>& weights) {
  const std::string flag = "--restart-weights";
  return add_parsed(
      command, flag, "W,W...",
      "Weights of the restart positions in as many equal parts of 1..T_m, whole numbers, the "
      "first above 0 (default: all positions alike; `tempera ladder` suggests some)",
      [&weights, flag](const std::string& text) { weights = parse_restart_weights(text, flag); });
}

CLI::Option* add_restart_range(CLI::App& command, std::optional<gpu::RestartRange>& range) {
  return add_parsed(
      command, "--restart-range", placeholder_of(gpu::restart_ranges),
      "Restart positions: horizon: all of 1..T, those after an early end propose nothing "
      "(default); record: only positions of the record, and the acceptance ratio corrects for it",
      [&range](const std::string& text) {
        range = gpu::restart_range_named(text, "--restart-range");
      });
}

CLI::Option* add_schedule(CLI::App& command, std::optional<gpu::Schedule>& schedule,
                          const std::string& help) {
  return add_parsed(
      command, "--schedule", placeholder_of(gpu::schedules), help,
      [&schedule](const std::string& text) { schedule = gpu::schedule_named(text, "--schedule"); });
}

CLI::Option* add_token_numbers(CLI::App& command, const std::string& flag,
                               std::vector<std::uint32_t>& values, const std::string& help) {
  return add_parsed(command, flag, "N,N...", help, [&values, flag](const std::string& list) {
    const auto numbers =
        parse_whole_numbers(list, flag, {0, std::numeric_limits<std::uint32_t>::max()});
    values.assign(numbers.begin(), numbers.end());
  });
}

CLI::Option* add_seed(CLI::App& command, std::uint64_t& value, const std::string& help) {
  return add_parsed(command, "--seed", "N", help, [&value](const std::string& text) {
    value = parse_whole_number(text, "--seed", {});
  });
}

CLI::Option* add_power(CLI::App& command, const std::string& flag, std::vector<double>& values,
                       const std::string& help) {
  return add_parsed(command, flag, "A", help, [&values, flag](const std::string& text) {
    values = {parse_power(text, flag)};
  });
}

CLI::Option* add_powers(CLI::App& command, const std::string& flag, std::vector<double>& values,
                        const std::string& help) {
  return add_parsed(command, flag, "A[,A...]", help, [&values, flag](const std::string& list) {
    values = parse_powers(list, flag);
  });
}

CLI::Option* add_text(CLI::App& command, const std::string& flag, std::string& value,
                      const std::string& what, const std::string& help) {
  return add_parsed(command, flag, what, help, [&value, flag, what](const std::string& text) {
    require_text(text, flag, "give " + flag + " " + what + ", or leave it out");
    value = text;
  });
}

CLI::Option* add_texts(CLI::App& command, const std::string& flag, std::vector<std::string>& values,
                       const std::string& what, const std::string& help) {
  return command
      .add_option_function<std::vector<std::string>>(
          flag,
          [&values, flag, what](const std::vector<std::string>& texts) {
            for (const std::string& text : texts)
              require_text(text, flag, "give " + flag + " " + what + ", or leave it out");
            values = texts;
          },
          help)
      ->type_name(what)
      ->allow_extra_args(false);
}

CLI::Option* add_seconds(CLI::App& command, const std::string& flag, double& value,
                         const std::string& help) {
  return add_parsed(command, flag, "S", help, [&value, flag](const std::string& text) {
    constexpr const char* remedy = "give a decimal such as 0.5 or 60, from 0 to 1000000";
    if (!is_decimal(text)) throw BadInput(flag, in_quotes(text) + " is not a number", remedy);
    double seconds = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || seconds > 1e6)
      throw BadInput(flag, in_quotes(text) + " is out of range", remedy);
    value = seconds;
  });
}

CLI::Option* add_bytes(CLI::App& command, const std::string& flag, std::size_t& value,
                       const std::string& help) {
  return add_parsed(command, flag, "BYTES", help,
                    [&value, flag](const std::string& text) { value = parse_bytes(text, flag); });
}

CLI::Option* add_choice(CLI::App& command, const std::string& flag, std::string& value,
                        const std::vector<std::string>& names, const std::string& help) {
  std::string placeholder;
  std::string remedy = "give ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    placeholder += (i == 0 ? "" : "|") + names[i];
    remedy += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return add_parsed(command, flag, placeholder, help,
                    [&value, flag, names, remedy](const std::string& text) {
                      if (std::find(names.begin(), names.end(), text) == names.end())
                        throw BadInput(flag, in_quotes(text) + " is unknown", remedy);
                      value = text;
                    });
}

CLI::Option* add_rope_factors(CLI::App& command, std::optional<gpu::RopeFactors>& value) {
  return add_parsed(
      command, "--rope-factors", "short|long",
      "For a model with two sets of rotary factors (Phi-3.5's longrope) the one for all "
      "positions of all texts: short, for texts up to the original length, or long "
      "(default: short)",
      [&value](const std::string& text) {
        for (const auto factors : gpu::rope_factor_sets)
          if (text == name_of(factors)) value = factors;
        if (!value)
          throw BadInput("--rope-factors", in_quotes(text) + " is unknown", "give short or long");
      });
}

CLI::Option* add_arithmetic(CLI::App& command, std::optional<gpu::Arithmetic>& value,
                            const std::string& help) {
  return add_parsed(
      command, "--arithmetic", "NAME",
      "What the transformer's logits are, bit for bit: " + gpu::names_of_arithmetics() +
          ". integer multiplies whole numbers of 16 bits, whose sums are exact; the others but "
          "float32 multiply bfloat16s and sum them as a GPU's tensor cores do (Hopper's, or "
          "Ampere's and Ada's), or a processor's instructions for pairs (" +
          help + ")",
      [&value](const std::string& text) {
        value = gpu::arithmetic_named(text);
        if (!value)
          throw BadInput("--arithmetic", in_quotes(text) + " is unknown",
                         "give " + gpu::names_of_arithmetics());
      });
}

CLI::Option* add_device(CLI::App& command, std::string& value) {
  return add_parsed(command, "--device", "host|cuda|cuda:N",
                    "Run on this device and no other; cuda:1 is the second GPU. The bits do not "
                    "depend on it (default: what this build is for, and of several GPUs the first)",
                    [&value](const std::string& text) {
                      if (!gpu::device_named(text))
                        throw BadInput("--device", in_quotes(text) + " is unknown",
                                       "give host or cuda, or of several GPUs one, such as cuda:1");
                      value = text;
                    });
}

CLI::Option* add_devices(CLI::App& command, std::string& value) {
  return add_text(command, "--devices", value, "LIST",
                  "Several devices that share the work, such as cuda:0,cuda:1, each with the "
                  "model: if one is lost, the others continue. No answer depends on them");
}

CLI::Option* add_threads(CLI::App& command, std::size_t& value) {
  constexpr std::size_t most_threads = 4096;
  return add_whole_number(command, "--threads", value, {1, most_threads},
                          "The most threads of this machine to take (default: one for each of its "
                          "processors). It changes no answer");
}

void refuse_idle_threads(const CLI::Option& threads) {
  if (threads.count() > 0 && !gpu::runs_on_host_threads())
    throw BadInput("--threads",
                   "has no effect in this build, which computes by " + gpu::device_system(),
                   "leave it out, or use the build of cmake --preset release");
}

void refuse_beside(const CLI::Option& one, const CLI::Option& other, const std::string& why) {
  if (one.count() > 0 && other.count() > 0)
    throw BadInput(one.get_name(), "has no effect beside " + other.get_name(), why);
}

void require(const CLI::Option& one, const std::string& remedy) {
  if (one.count() == 0) throw BadInput(one.get_name(), "is missing", remedy);
  for (const std::string& text : one.results()) require_text(text, one.get_name(), remedy);
}

}  // namespace tempera::cli
