#pragma once

#include <cstddef>

#include "reference/model/finite_model.hpp"

namespace tempera::reference {

/// The largest horizon that is enumerated.
inline constexpr std::size_t horizon_limit = 128;
/// The most single records whose kernels are built.
inline constexpr std::size_t record_limit = 1024;

/// |S_T|: supported records of horizon T, counted without listing them.
/// @throw BadInput if the horizon is above horizon_limit or a reachable prefix has no row
Integer count_fixed_horizon_records(const FiniteModel& model, std::size_t horizon);

/// Size of the enlarged comparison space: supported records of length 1..T, terminated or not.
/// @throw BadInput as count_fixed_horizon_records
Integer count_comparison_records(const FiniteModel& model, std::size_t horizon);

}  // namespace tempera::reference
