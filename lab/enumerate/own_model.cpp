#include "lab/enumerate/own_model.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

namespace tempera::lab {
namespace {

using reference::Integer;
using reference::Rational;
using Rows = std::map<std::vector<reference::Token>, reference::TokenRow>;

reference::TokenRow row_of(const std::vector<float>& logits) {
  const auto likeliest =
      static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  Real sum = 0;
  for (const float logit : logits)
    if (std::isfinite(logit)) sum += exp(Real(logit) - Real(logits[likeliest]));
  const Integer grain = Integer(1) << 160;
  Integer rest = grain;
  reference::TokenRow row(logits.size());
  for (std::size_t v = 0; v < logits.size(); ++v) {
    if (v == likeliest || !std::isfinite(logits[v])) continue;
    const Real share = exp(Real(logits[v]) - Real(logits[likeliest])) / sum;
    const Integer grains(boost::multiprecision::cpp_int(Real(round(ldexp(share, 160)))).str());
    rest -= grains;
    row[v] = Rational(grains, grain);
  }
  row[likeliest] = Rational(rest, grain);
  return row;
}

void add_rows(const EnumerableModel& model, std::vector<gpu::TokenId>& tokens, std::size_t horizon,
              Rows& rows) {
  const std::vector<float> logits = logits_after(model, tokens);
  rows.emplace(tokens, row_of(logits));
  if (tokens.size() + 1 == horizon) return;
  for (gpu::TokenId v = 0; v < logits.size(); ++v) {
    if (!std::isfinite(logits[v]) || model.context.is_terminal(v)) continue;
    tokens.push_back(v);
    add_rows(model, tokens, horizon, rows);
    tokens.pop_back();
  }
}

}  // namespace

reference::FiniteModel own_model(const EnumerableModel& model, std::size_t horizon,
                                 const std::string& name) {
  reference::FiniteModelParts parts{
      name, {model.vocabulary, name}, model.context.terminal, {}, std::nullopt};
  std::vector<gpu::TokenId> tokens;
  add_rows(model, tokens, horizon, parts.next);
  return {std::move(parts), name};
}

}  // namespace tempera::lab
