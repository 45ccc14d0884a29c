#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::reference {

/// Expected decode tokens of the steps of one rung: what they cost on a real model.
class DecodeTokens {
 public:
  /// The model must outlive the object.
  DecodeTokens(const FiniteModel& model, const Power& power) : model_(model), power_(power) {}

  /// The tokens of continuing these by g_α until they end or are `horizon` long
  /// (eq:implementation-extension); none if they have ended or are as long.
  Rational continuation(std::span<const Token> tokens, std::size_t horizon);
  /// The tokens of one local move from x: r ~ ω, and if r <= τ(x) the suffix from r through the
  /// horizon of ω is regenerated. Over the record's own positions r ~ ω given r <= τ(x).
  Rational local_move(const Record& x, const RestartLaw& restart,
                      RestartRange range = RestartRange::horizon);
  /// The tokens of one move of the truncating sampler from x, which has at least one: r is uniform
  /// on 1..len(x), and the suffix from r is regenerated through len(x).
  Rational truncating_move(const Record& x);

 private:
  const FiniteModel& model_;
  const Power power_;
  std::map<std::pair<std::vector<Token>, std::size_t>, Rational> known_;
};

}  // namespace tempera::reference
