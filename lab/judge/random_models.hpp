#pragma once

// For a user's property tests: it includes RapidCheck, which tempera itself needs nowhere.
#include <rapidcheck.h>

#include <ostream>
#include <string>
#include <vector>

#include "lab/judge/shrink.hpp"

namespace tempera::lab {

/// What drawn models are like.
struct RandomModels {
  std::size_t most_tokens = 3;   ///< of the vocabulary; at least 2
  std::size_t listed_depth = 1;  ///< rows are listed for open prefixes up to this length
  int largest_weight = 4;        ///< a row is whole numbers from 0 to this, over their sum
};

/// A generator of finite models with rows of small fractions, some of them 0, any tokens terminal
/// and a default row. A failing model is shrunk through smaller_models.
inline rc::Gen<reference::FiniteModel> random_models(const RandomModels& like = {}) {
  const auto drawn = rc::gen::exec([like] {
    // At RapidCheck's nominal size also in its first cases: no model is made more alike by them.
    const auto between = [](int least, int most) {
      return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
    };
    const auto tokens = static_cast<std::size_t>(between(2, static_cast<int>(like.most_tokens)));
    const auto row = [&] {
      reference::TokenRow weights;
      reference::Rational total = 0;
      for (std::size_t v = 0; v < tokens; ++v)
        total += weights.emplace_back(between(0, like.largest_weight));
      if (total == 0) total = weights[0] = 1;
      for (reference::Rational& weight : weights) weight /= total;
      return weights;
    };
    std::vector<std::string> names;
    for (std::size_t v = 0; v < tokens; ++v) names.push_back("t" + std::to_string(v));
    reference::FiniteModelParts parts{"random", {names, "random model"}, {}, {}, {}};
    std::vector<std::vector<reference::Token>> prefixes{{}};
    std::vector<reference::Token> open;
    for (reference::Token v = 0; v < tokens; ++v)
      (between(0, 1) == 0 ? parts.terminal : open).push_back(v);
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      const std::vector<reference::Token> prefix = prefixes[i];
      parts.next.emplace(prefix, row());
      if (prefix.size() == like.listed_depth) continue;
      for (const reference::Token v : open) {
        prefixes.push_back(prefix);
        prefixes.back().push_back(v);
      }
    }
    parts.default_row = row();
    return reference::FiniteModel(std::move(parts), "random model");
  });
  return rc::gen::shrink(drawn, [](const reference::FiniteModel& model) {
    return rc::seq::fromContainer(smaller_models(model));
  });
}

}  // namespace tempera::lab

namespace tempera::reference {

/// What RapidCheck shows of a model: its file, in one line.
inline void showValue(const FiniteModel& model, std::ostream& out) {
  out << lab::model_json(model);
}

}  // namespace tempera::reference
