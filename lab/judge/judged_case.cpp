#include "lab/judge/judged_case.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/kernels/power_target.hpp"

namespace tempera::lab {

using reference::Law;
using reference::Rational;

JudgedCase::JudgedCase(const reference::FiniteModel& model, std::size_t horizon,
                       JudgedTarget target)
    : space_(model, horizon), target_(std::move(target)) {
  reference::Integer states = 1;
  for (std::size_t k = 0; k < rungs(); ++k) states *= space_.size();
  if (states > judged_limit)
    throw BadInput(model.source(),
                   "horizon " + std::to_string(horizon) + " gives " + states.str() +
                       " states, more than the " + std::to_string(judged_limit) +
                       " on which a kernel is judged",
                   "use a smaller horizon, model or ladder");
  if (target_.law) {
    law_.resize(space_.size());
    Rational total = 0;
    for (const auto& [tokens, probability] : *target_.law) {
      const auto x = space_.find(tokens);
      if (!x)
        throw BadInput(
            "the target",
            "names " + name({tokens}) + ", no record of horizon " + std::to_string(horizon),
            "give records that the model can make");
      if (probability < 0)
        throw BadInput("the target", "is negative at " + name({tokens}),
                       "give probabilities that are at least 0");
      law_[*x] = probability;
      total += probability;
    }
    if (total != 1)
      throw BadInput("the target", "sums to " + reference::to_string(total) + ", not to 1",
                     "correct its probabilities");
    return;
  }
  law_ = {Rational(1)};
  for (const reference::Power& power : target_.powers) {
    const Law of_rung = reference::power_target(space_, power);
    Law longer;
    for (const Rational& before : law_)
      for (const Rational& mass : of_rung) longer.push_back(before * mass);
    law_ = std::move(longer);
  }
}

JudgedState JudgedCase::state(std::size_t index) const {
  JudgedState state(rungs());
  for (std::size_t k = rungs(); k-- > 0; index /= space_.size())
    state[k] = space_[index % space_.size()].tokens;
  return state;
}

std::optional<std::size_t> JudgedCase::find(const JudgedState& state) const {
  if (state.size() != rungs()) return std::nullopt;
  std::size_t index = 0;
  for (const auto& tokens : state) {
    const auto x = space_.find(tokens);
    if (!x) return std::nullopt;
    index = index * space_.size() + *x;
  }
  return index;
}

std::string JudgedCase::name(const JudgedState& state) const {
  std::string text;
  for (std::size_t k = 0; k < state.size(); ++k) {
    if (k > 0) text += '|';
    for (std::size_t t = 0; t < state[k].size(); ++t) {
      if (t > 0) text += ' ';
      const reference::Token token = state[k][t];
      text += token < model().vocabulary_size() ? model().vocabulary()[token]
                                                : "token number " + std::to_string(token);
    }
  }
  return text;
}

std::size_t JudgedCase::tokens(std::size_t index) const {
  std::size_t tokens = 0;
  for (const auto& record : state(index)) tokens += record.size();
  return tokens;
}

}  // namespace tempera::lab
