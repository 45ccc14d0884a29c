#pragma once

#include <cstddef>

#include "reference/model/finite_model.hpp"

namespace tempera::reference {

/// The largest horizon that is enumerated.
inline constexpr std::size_t horizon_limit = 128;
/// The most single records whose kernels are built.
inline constexpr std::size_t record_limit = 1024;

/// |S_T|: supported records of horizon T, counted without listing them.
/// Throws BadInput for a horizon above horizon_limit and for a reachable prefix without a row.
Integer count_fixed_horizon_records(const FiniteModel& model, std::size_t horizon);

/// Size of the enlarged comparison space: supported records of length 1..T, terminated or not.
/// Throws as count_fixed_horizon_records.
Integer count_comparison_records(const FiniteModel& model, std::size_t horizon);

}  // namespace tempera::reference
