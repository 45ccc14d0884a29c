#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "gpu/core/sampler/sweep.hpp"

/// The names of values that are one of a few. No other source writes or reads them.
namespace tempera::gpu {

/// A value and its name in flags, JSON and Python.
template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

inline constexpr std::array schedules{Choice<Schedule>{"adj", Schedule::adj},
                                      Choice<Schedule>{"deo", Schedule::deo}};
inline constexpr std::array restart_ranges{Choice<RestartRange>{"horizon", RestartRange::horizon},
                                           Choice<RestartRange>{"record", RestartRange::record}};

/// @pre the value is one of the choices
template <class Choices, class Value>
constexpr std::string_view name_in(const Choices& choices, Value value) {
  for (const auto& choice : choices)
    if (choice.value == value) return choice.name;
  return {};
}
constexpr std::string_view name_of(Schedule schedule) { return name_in(schedules, schedule); }
constexpr std::string_view name_of(RestartRange range) { return name_in(restart_ranges, range); }

/// The value of a name.
/// @throw BadInput naming `where`, with all names, for any other text
template <class Choices>
auto choice_named(const Choices& choices, std::string_view name, const std::string& where) {
  std::string remedy = "give ";
  for (const auto& choice : choices) {
    if (choice.name == name) return choice.value;
    const bool is_last = &choice == &choices.back();
    remedy += (&choice == &choices.front() ? "" : is_last ? " or " : ", ");
    remedy += choice.name;
  }
  throw BadInput(where, in_quotes(std::string(name)) + " is unknown", remedy);
}
inline Schedule schedule_named(std::string_view name, const std::string& where) {
  return choice_named(schedules, name, where);
}
inline RestartRange restart_range_named(std::string_view name, const std::string& where) {
  return choice_named(restart_ranges, name, where);
}

}  // namespace tempera::gpu
