#pragma once

#include <string>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"
#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::reference::random {

using ::between;

// Small numbers over their sum, some zero, never all.
inline std::vector<Rational> weights(std::size_t size) {
  std::vector<Rational> drawn;
  Rational total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    drawn.emplace_back(between(0, 4));
    total += drawn.back();
  }
  if (total == 0) {
    drawn[0] = 1;
    total = 1;
  }
  for (Rational& weight : drawn) weight /= total;
  return drawn;
}

/// Two or three tokens, any of them terminal, random rows up to length 2 and a default.
inline FiniteModel model() {
  const std::vector<std::string> all{"a", "b", "c"};
  const auto tokens = static_cast<std::size_t>(between(2, 3));
  FiniteModelParts parts{
      "random",
      {{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(tokens)}, "random model"},
      {},
      {},
      {}};
  std::vector<Token> open;
  for (Token v = 0; v < tokens; ++v)
    (*rc::gen::arbitrary<bool>() ? parts.terminal : open).push_back(v);
  std::vector<std::vector<Token>> prefixes{{}};
  for (const Token first : open) {
    prefixes.push_back({first});
    for (const Token second : open) prefixes.push_back({first, second});
  }
  for (const auto& prefix : prefixes) parts.next.emplace(prefix, weights(tokens));
  parts.default_row = weights(tokens);
  return {std::move(parts), "random model"};
}

inline std::size_t horizon(int most = 3) { return static_cast<std::size_t>(between(1, most)); }

inline Power power() { return Power(Rational(between(1, 4))); }

inline Ladder ladder(int rungs) {
  std::vector<Power> powers;
  Rational alpha = 0;
  for (int k = 0; k < rungs; ++k) powers.emplace_back(alpha += between(1, 2));
  return Ladder(powers);
}

/// Any law over 1..T, some weights perhaps zero.
inline RestartLaw restart(std::size_t horizon) { return RestartLaw(weights(horizon)); }

}  // namespace tempera::reference::random
