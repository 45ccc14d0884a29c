#pragma once

/// @file
/// A generator of finite models for RapidCheck, which a test brings itself.

#include <rapidcheck.h>

#include <ostream>
#include <string>

#include "tempera/exact.hpp"

namespace tempera::check {

/// What drawn models are like.
struct RandomModels {
  int most_tokens = 3;     ///< of the vocabulary. @pre >= 2
  int listed_depth = 1;    ///< rows are listed for open prefixes up to this length
  int largest_weight = 4;  ///< a row is whole numbers from 0 to this, over their sum
};

/// Finite models with rows of small fractions, some of them 0, any tokens terminal, and a default
/// row. A failing model is shrunk through FiniteModel::smaller.
inline rc::Gen<exact::FiniteModel> random_models(const RandomModels& like = {}) {
  const auto drawn = rc::gen::exec([like] {
    // At RapidCheck's nominal size also in its first cases: no model is made more alike by them.
    const auto between = [](int least, int most) {
      return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
    };
    const int tokens = between(2, like.most_tokens);
    const auto name = [](int token) { return "t" + std::to_string(token); };
    const auto row = [&] {
      std::vector<int> weights;
      int total = 0;
      for (int v = 0; v < tokens; ++v)
        total += weights.emplace_back(between(0, like.largest_weight));
      if (total == 0) total = weights[0] = 1;
      std::string text = "{";
      for (int v = 0; v < tokens; ++v)
        if (weights[static_cast<std::size_t>(v)] > 0)
          text += (text.size() > 1 ? ", \"" : "\"") + name(v) + "\": \"" +
                  std::to_string(weights[static_cast<std::size_t>(v)]) + "/" +
                  std::to_string(total) + "\"";
      return text + "}";
    };
    std::string vocabulary;
    std::string terminal;
    std::vector<int> open;
    for (int v = 0; v < tokens; ++v) {
      vocabulary += (v > 0 ? ", \"" : "\"") + name(v) + "\"";
      if (between(0, 1) == 0)
        terminal += (terminal.empty() ? "\"" : ", \"") + name(v) + "\"";
      else
        open.push_back(v);
    }
    std::string next = "\"\": " + row();
    std::vector<std::string> prefixes{""};
    for (int depth = 0; depth < like.listed_depth; ++depth) {
      std::vector<std::string> longer;
      for (const std::string& prefix : prefixes)
        for (const int v : open) {
          longer.push_back(prefix.empty() ? name(v) : prefix + " " + name(v));
          next += ", \"" + longer.back() + "\": " + row();
        }
      prefixes = longer;
    }
    return exact::FiniteModel::parse("{\"name\": \"random\", \"vocabulary\": [" + vocabulary +
                                         "], \"terminal\": [" + terminal + "], \"next\": {" + next +
                                         "}, \"default\": " + row() + "}",
                                     "random model");
  });
  return rc::gen::shrink(drawn, [](const exact::FiniteModel& model) {
    return rc::seq::fromContainer(model.smaller());
  });
}

}  // namespace tempera::check

namespace tempera::exact {

/// What RapidCheck shows of a model: its file, in one line.
inline void showValue(const FiniteModel& model, std::ostream& out) { out << model.json(); }

}  // namespace tempera::exact
