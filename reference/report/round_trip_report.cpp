#include "reference/report/round_trip_report.hpp"

#include "base/error.hpp"
#include "reference/analysis/carried_laws.hpp"
#include "reference/analysis/round_trip.hpp"

namespace tempera::reference {

RoundTripReport report_round_trips(const FiniteModel& model, const Ladder& ladder,
                                   Schedule schedule, const ExactQuestion& asked,
                                   std::size_t rounds) {
  if (ladder.rungs() < 2)
    throw BadInput("ladder", "has one rung, where nothing goes round", "give two powers or more");
  const RestartLaw restart = asked.restart ? *asked.restart : RestartLaw::uniform(asked.horizon);
  const CarriedTempering kernels(model, asked.horizon, ladder, restart);
  const EdgeAcceptances acceptances = kernels.swap_acceptances();
  if (schedule == Schedule::adj)
    return {round_trip_curve(kernels, {kernels.transition(1, 1)}, rounds),
            adj_round_trip_formula(acceptances).total()};
  std::vector<CarriedChain> layers{kernels.local_sweep(), kernels.local_sweep()};
  layers[0].then(kernels.odd_layer());
  layers[1].then(kernels.even_layer());
  return {round_trip_curve(kernels, layers, rounds), deo_round_trip_formula(acceptances)};
}

}  // namespace tempera::reference
