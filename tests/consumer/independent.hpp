#pragma once

#include <tempera/check.hpp>

/// A user's own kernel: proposes a record from the base law p0, and accepts it for the target p0^2
/// with probability min(1, p0(y) / p0(x)), or always.
inline tempera::check::Kernel independent(bool accepts) {
  using namespace tempera;
  return [accepts](const check::Case& judged, const check::State& state,
                   check::Lottery& lottery) -> check::State {
    const auto terminal = judged.model.terminal();
    exact::Fraction forward = 1;
    check::Record y;
    while (y.size() < judged.horizon && (y.empty() || !terminal[y.back()])) {
      const auto row = judged.model.next(y);
      y.push_back(lottery.draw(row));
      forward = forward * row[y.back()];
    }
    exact::Fraction back = 1;
    check::Record prefix;
    for (const std::size_t token : state[0]) {
      back = back * judged.model.next(prefix)[token];
      prefix.push_back(token);
    }
    if (accepts && forward < back && !lottery.happens(forward / back)) return state;
    return {y};
  };
}
