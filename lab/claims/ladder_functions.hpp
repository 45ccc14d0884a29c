#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "reference/analysis/gamma_family.hpp"
#include "reference/analysis/ladder_design.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/tagged_replica.hpp"

namespace tempera::lab {

/// Ladders, swap rates and round trips, as the checks ask for them: see FunctionsUnderTest.
struct LadderFunctions {
  decltype(std::function(reference::adj_round_trip)) adj_round_trip = reference::adj_round_trip;
  decltype(std::function(reference::deo_round_trip)) deo_round_trip = reference::deo_round_trip;
  decltype(std::function(reference::adj_round_trip_formula)) adj_round_trip_formula =
      reference::adj_round_trip_formula;
  decltype(std::function(reference::deo_round_trip_formula)) deo_round_trip_formula =
      reference::deo_round_trip_formula;
  decltype(std::function(reference::equal_distance_ladder)) equal_distance_ladder =
      reference::equal_distance_ladder;
  decltype(std::function(reference::thermodynamic_gap)) thermodynamic_gap =
      reference::thermodynamic_gap;
  decltype(std::function(reference::maximin_ladder)) maximin_ladder = reference::maximin_ladder;
  decltype(std::function(reference::expected_swap_acceptance)) expected_swap_acceptance =
      reference::expected_swap_acceptance;
  decltype(std::function(reference::mean_energy)) mean_energy = reference::mean_energy;
  decltype(std::function(reference::energy_variance)) energy_variance = reference::energy_variance;
  decltype(std::function(reference::equilibrium_acceptance)) equilibrium_acceptance =
      reference::equilibrium_acceptance;
  decltype(std::function(reference::thermodynamic_distance)) thermodynamic_distance =
      reference::thermodynamic_distance;
  decltype(std::function(reference::gaussian_acceptance)) gaussian_acceptance =
      reference::gaussian_acceptance;
  decltype(std::function(reference::gamma_acceptance)) gamma_acceptance =
      reference::gamma_acceptance;
  decltype(std::function(reference::gamma_variance)) gamma_variance = reference::gamma_variance;
  decltype(std::function(reference::adj_chain)) adj_chain = reference::adj_chain;
  decltype(std::function(reference::deo_chain)) deo_chain = reference::deo_chain;
  decltype(std::function(reference::mean_round_trip)) mean_round_trip = reference::mean_round_trip;
};

}  // namespace tempera::lab
