#include <algorithm>

#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/program_law.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::FunctionsUnderTest;

/// Whole runs with every outcome spoilt.
template <class Spoil>
std::function<void(FunctionsUnderTest&)> spoilt_outcomes(Spoil spoil) {
  return [spoil](FunctionsUnderTest& functions) {
    functions.of<lab::ProgramFunctions>().outcomes_of_tempering =
        [spoil](const FiniteModel& model, const lab::ProgramQuestion& question) {
          lab::OutcomeLaw spoilt;
          for (const auto& [sound, probability] : lab::outcomes_of_tempering(model, question)) {
            lab::Outcome outcome = sound;
            spoil(model, question, outcome);
            spoilt[outcome] += probability;
          }
          return spoilt;
        };
  };
}

void refinement_at_rest(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().fixed_horizon_kernel = [](const auto& space, const auto&,
                                                                 const auto&) {
    Matrix kernel(space.size(), space.size());
    for (std::size_t x = 0; x < space.size(); ++x) kernel(x, x) = 1;
    return kernel;
  };
}

}  // namespace

std::vector<Planted> planted_in_constructions() {
  return {
      {"output_rung_fixed", "the shortest record for that of rung k*",
       spoilt_outcomes([](const auto&, const auto&, lab::Outcome& outcome) {
         for (const auto& record : outcome.records)
           if (record.size() < outcome.answer.size()) outcome.answer = record;
       })},
      {"output_rung_fixed", "rung 1 whatever k* is",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().outcomes_of_tempering =
             [](const FiniteModel& model, lab::ProgramQuestion question) {
               question.output = 0;
               return lab::outcomes_of_tempering(model, question);
             };
       }},
      {"output_cut", "a terminal token more",
       spoilt_outcomes([](const FiniteModel& model, const auto&, lab::Outcome& outcome) {
         for (Token token = 0; token < model.vocabulary().size(); ++token)
           if (model.is_terminal(token)) outcome.answer.push_back(token);
       })},
      {"output_cut", "the last token left out",
       spoilt_outcomes([](const auto&, const auto&, lab::Outcome& outcome) {
         if (outcome.answer.size() > 1) outcome.answer.pop_back();
       })},
      {"reopened_records", "a kernel at rest", refinement_at_rest},
      {"reopened_records", "an extension to the first record",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().block_extension =
             [](const auto& shorter, const auto& longer, const auto&) {
               Matrix kernel(shorter.size(), longer.size());
               for (std::size_t x = 0; x < shorter.size(); ++x) kernel(x, 0) = 1;
               return kernel;
             };
       }},
      {"ending_replaced", "every end stays",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel_at =
             [](const auto& space, const auto& power, std::size_t r) {
               Matrix kernel = fixed_horizon_kernel_at(space, power, r);
               for (std::size_t x = 0; x < space.size(); ++x)
                 for (std::size_t y = 0; y < space.size() && space[x].terminated; ++y)
                   kernel(x, y) = x == y ? 1 : 0;
               return kernel;
             };
       }},
      {"ending_replaced", "every restart at 1",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel_at =
             [](const auto& space, const auto& power, std::size_t) {
               return fixed_horizon_kernel_at(space, power, 1);
             };
       }},
      {"invalid_constructions", "half a likelihood",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().likelihood = [](const RecordSpace& space,
                                                              std::size_t x) {
           return Rational(space.likelihood(x) / 2);
         };
       }},
      {"fixed_horizon_reaches_all", "a kernel at rest", refinement_at_rest},
      {"fixed_horizon_reaches_all", "truncating that lengthens",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = [](const ComparisonSpace& space,
                                                                     const auto&) {
           Matrix kernel(space.size(), space.size());
           for (std::size_t x = 0; x < space.size(); ++x)
             for (std::size_t y = 0; y < space.size(); ++y)
               kernel(x, y) = Rational(1) / Rational(space.size());
           return kernel;
         };
       }},
      {"only_open_records_call", "a pass after every last token",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().calls_of_extension = [](std::size_t block,
                                                                       std::uint64_t seed) {
           lab::ExtensionCalls calls = lab::calls_of_extension(block, seed);
           calls.passes += calls.terminated;
           return calls;
         };
       }},
      {"only_open_records_call", "records that never end early",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().calls_of_extension = [](std::size_t, std::uint64_t) {
           return lab::ExtensionCalls{61, {20, 20, 20}, 0};
         };
       }},
      {"weakest_edge_bounds", "one sweep more",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().adj_round_trip = [](const EdgeAcceptances& a) {
           RoundTrip trip = adj_round_trip(a);
           trip.up += 1;
           return trip;
         };
       }},
      {"weakest_edge_bounds", "the weakest edge for all",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().adj_round_trip = [](const EdgeAcceptances& a) {
           return adj_round_trip(EdgeAcceptances(a.size(), *std::min_element(a.begin(), a.end())));
         };
       }},
      {"near_flat_curves", "the square of the distance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().thermodynamic_distance =
             [](const auto& p0, const Rational& lower, const Rational& upper, unsigned cells,
                long bits) {
               const Interval distance = thermodynamic_distance(p0, lower, upper, cells, bits);
               const Interval square = distance * distance;
               return square * square * square * square;
             };
       }},
      {"near_flat_curves", "a distance of nothing",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().thermodynamic_distance =
             [](const auto&, const Rational&, const Rational&, unsigned, long bits) {
               return Interval(0, bits);
             };
       }},
  };
}

}  // namespace tempera::test
