#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "lab/contest/contest.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::cli {

/// A probability as a fraction; null if there is none.
nlohmann::ordered_json probability_to_json(const std::optional<reference::Rational>& probability);
std::string decimals(const lab::Real& value, int digits);
/// The answers of a model in a row: "w w|g e".
std::string answers_of(const reference::FiniteModel& model);
/// Every number of a row, as fractions and decimals.
nlohmann::ordered_json row_json(const lab::ExactRow& row);

}  // namespace tempera::cli
