#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tempera/options.hpp"

namespace tempera::gpu {

/// Changes of a row of logits before its token is drawn: a user's TokenOptions, and what they
/// look at. The change is a function of the logits, these and the power alone.
struct RowRules {
  TokenOptions options;
  std::span<const std::uint32_t> terminal;  ///< E
  std::span<const std::uint32_t> prompt;
  std::vector<std::uint32_t> drawn;  ///< x_1 … x_{t−1}
};

/// Returns whether the options change any row after this many tokens.
bool change_rows(const TokenOptions& options, std::size_t drawn);

/// ceil(p · total), exactly, p being the rational number that the double is.
/// Range: 0 < p <= 1, total < 2^63.
std::uint64_t share_of_tickets(double p, std::uint64_t total);

/// Changes a row as docs/reference/samplers.md says, in this order:
///   1. penalties: ℓ of a token that prompt or answer has becomes ℓ / r if ℓ > 0, else ℓ r; then
///      ℓ − f n − a for one that the answer has n > 0 times. In doubles, the result rounded to
///      float32 once;
///   2. the terminal tokens are forbidden while ignore_eos or min_tokens ask for it, unless they
///      are all that is allowed;
///   3. tokens below the k-th largest ℓ are forbidden;
///   4. those of fewer than min_p · 2^44 tickets at the power are forbidden;
///   5. of the tokens left, with W tickets, those below the largest bound b are forbidden for which
///      the tickets of all ℓ >= b reach ceil(top_p · W).
/// Equal logits stay or go together, so that no order of tokens decides. A row that holds NaN or
/// +infinity, or allows no token, is left as it is.
void change_row(std::span<float> logits, const RowRules& rules, double power);

}  // namespace tempera::gpu
