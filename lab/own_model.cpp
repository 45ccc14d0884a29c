#include "lab/own_model.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tempera::lab {
namespace {

using Integer = reference::Integer;

nlohmann::json row_of(const std::vector<float>& logits,
                      const std::vector<std::string>& vocabulary) {
  const auto likeliest =
      static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  Real sum = 0;
  for (const float logit : logits)
    if (std::isfinite(logit)) sum += exp(Real(logit) - Real(logits[likeliest]));
  const Integer grain = Integer(1) << 160;
  Integer rest = grain;
  nlohmann::json row;
  for (std::size_t v = 0; v < logits.size(); ++v) {
    if (v == likeliest || !std::isfinite(logits[v])) continue;
    const Real share = exp(Real(logits[v]) - Real(logits[likeliest])) / sum;
    const Integer grains(boost::multiprecision::cpp_int(Real(round(ldexp(share, 160)))).str());
    rest -= grains;
    row[vocabulary[v]] = reference::to_string(reference::Rational(grains, grain));
  }
  row[vocabulary[likeliest]] = reference::to_string(reference::Rational(rest, grain));
  return row;
}

void add_rows(const EnumerableModel& model, std::vector<gpu::TokenId>& tokens, std::size_t horizon,
              nlohmann::json& next) {
  const std::vector<float> logits = logits_after(model, tokens);
  std::string prefix;
  for (const gpu::TokenId token : tokens)
    prefix += (prefix.empty() ? "" : " ") + model.vocabulary[token];
  next[prefix] = row_of(logits, model.vocabulary);
  if (tokens.size() + 1 == horizon) return;
  for (gpu::TokenId v = 0; v < logits.size(); ++v) {
    if (!std::isfinite(logits[v]) || model.context.is_terminal(v)) continue;
    tokens.push_back(v);
    add_rows(model, tokens, horizon, next);
    tokens.pop_back();
  }
}

}  // namespace

reference::FiniteModel own_model(const EnumerableModel& model, std::size_t horizon,
                                 const std::string& name) {
  nlohmann::json json;
  json["name"] = name;
  json["vocabulary"] = model.vocabulary;
  json["terminal"] = nlohmann::json::array();
  for (const gpu::TokenId token : model.context.terminal)
    json["terminal"].push_back(model.vocabulary[token]);
  json["next"] = nlohmann::json::object();
  std::vector<gpu::TokenId> tokens;
  add_rows(model, tokens, horizon, json["next"]);
  return reference::parse_finite_model(json.dump(), name);
}

}  // namespace tempera::lab
