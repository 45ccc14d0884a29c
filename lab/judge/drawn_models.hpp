#pragma once

#include <cstdint>

#include "lab/judge/judged_case.hpp"

namespace tempera::lab {

/// Model `number` of those that a seed names: two or three tokens, some of them terminal, rows of
/// small fractions for no and one token before, some of them 0, and a default row. In every third
/// model a token is the join of two others.
reference::FiniteModel drawn_model(std::uint64_t seed, std::uint64_t number);

/// The longest horizon, up to `longest`, at which states of so many records of a model are few
/// enough for a program to be asked from each.
std::size_t horizon_of_few_states(const reference::FiniteModel& model, std::size_t rungs,
                                  std::size_t longest);

}  // namespace tempera::lab
