#include "gpu/core/lottery/rows/row_rules.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>

#include "gpu/core/lottery/tickets.hpp"

namespace tempera::gpu {
namespace {

constexpr float largest_finite = std::numeric_limits<float>::max();
constexpr float forbidden = -std::numeric_limits<float>::infinity();

bool is_allowed(float logit) { return logit >= -largest_finite; }

bool penalizes(const TokenOptions& options) {
  return options.frequency_penalty != 0.0 || options.presence_penalty != 0.0 ||
         options.repetition_penalty != 1.0;
}

bool forbids_terminal(const TokenOptions& options, std::size_t drawn) {
  return options.ignore_eos || drawn < options.min_tokens;
}

void penalize(std::span<float> logits, const RowRules& rules) {
  std::unordered_map<std::uint32_t, std::size_t> times;  // in the answer, also 0 of the prompt's
  for (const std::uint32_t token : rules.prompt) times.try_emplace(token, 0);
  for (const std::uint32_t token : rules.drawn) ++times[token];
  const TokenOptions& options = rules.options;
  for (const auto& [token, count] : times) {
    if (token >= logits.size() || !is_allowed(logits[token])) continue;
    auto logit = static_cast<double>(logits[token]);
    logit = logit > 0.0 ? logit / options.repetition_penalty : logit * options.repetition_penalty;
    if (count > 0)
      logit -= options.frequency_penalty * static_cast<double>(count) + options.presence_penalty;
    // A penalty forbids nothing, and makes nothing certain by leaving float32.
    logits[token] = static_cast<float>(std::clamp<double>(logit, -largest_finite, largest_finite));
  }
}

void forbid_terminal(std::span<float> logits, std::span<const std::uint32_t> terminal) {
  const auto is_terminal = [&](std::size_t token) {
    return std::find(terminal.begin(), terminal.end(), token) != terminal.end();
  };
  std::size_t others = 0;
  for (std::size_t v = 0; v < logits.size() && others == 0; ++v)
    others += is_allowed(logits[v]) && !is_terminal(v) ? 1 : 0;
  if (others == 0) return;
  for (const std::uint32_t token : terminal)
    if (token < logits.size()) logits[token] = forbidden;
}

void forbid_below(std::span<float> logits, float bound) {
  for (float& logit : logits)
    if (logit < bound) logit = forbidden;
}

std::vector<float> allowed_of(std::span<const float> logits) {
  std::vector<float> allowed;
  std::copy_if(logits.begin(), logits.end(), std::back_inserter(allowed), is_allowed);
  return allowed;
}

void keep_largest(std::span<float> logits, std::size_t count) {
  std::vector<float> allowed = allowed_of(logits);
  if (allowed.size() <= count) return;
  const auto last = allowed.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::nth_element(allowed.begin(), last, allowed.end(), std::greater<>());
  forbid_below(logits, *last);
}

void keep_likely(std::span<float> logits, double least_share, double power) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  for (float& logit : logits)
    if (static_cast<double>(tickets_of(logit, largest, power)) < least_share * 0x1p+44)
      logit = forbidden;
}

void keep_nucleus(std::span<float> logits, double share, double power) {
  std::vector<float> open = allowed_of(logits);  // a heap: only as many as are kept come off it
  std::make_heap(open.begin(), open.end());
  const float largest = open.front();
  std::uint64_t total = 0;
  for (const float logit : open) total += tickets_of(logit, largest, power);
  const std::uint64_t needed = share_of_tickets(share, total);
  float bound = largest;
  for (std::uint64_t kept = 0; kept < needed; open.pop_back()) {
    std::pop_heap(open.begin(), open.end());
    bound = open.back();
    kept += tickets_of(bound, largest, power);
  }
  forbid_below(logits, bound);
}

}  // namespace

bool change_rows(const TokenOptions& options, std::size_t drawn) {
  return options.top_k != 0 || options.top_p != 1.0 || options.min_p != 0.0 || penalizes(options) ||
         forbids_terminal(options, drawn);
}

std::uint64_t share_of_tickets(double p, std::uint64_t total) {
  __extension__ using Wide = unsigned __int128;
  int exponent = 0;
  const auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(p, &exponent), 53));
  const int shift = 53 - exponent;  // p = digits · 2^-shift; digits · total < 2^116
  if (shift > 120) return 1;
  const Wide product = static_cast<Wide>(digits) * total;
  return static_cast<std::uint64_t>((product + ((Wide{1} << shift) - 1)) >> shift);
}

void change_row(std::span<float> logits, const RowRules& rules, double power) {
  const auto is_bounded = [](float logit) { return logit <= largest_finite; };
  if (!std::all_of(logits.begin(), logits.end(), is_bounded) ||
      std::none_of(logits.begin(), logits.end(), is_allowed))
    return;
  const TokenOptions& options = rules.options;
  if (penalizes(options)) penalize(logits, rules);
  if (forbids_terminal(options, rules.drawn.size())) forbid_terminal(logits, rules.terminal);
  if (options.top_k != 0) keep_largest(logits, options.top_k);
  if (options.min_p != 0.0) keep_likely(logits, options.min_p, power);
  if (options.top_p != 1.0) keep_nucleus(logits, options.top_p, power);
}

}  // namespace tempera::gpu
