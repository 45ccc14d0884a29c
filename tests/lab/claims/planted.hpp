// Defects to plant in what a check judges: each must make that check fail.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/claims/checks.hpp"
#include "reference/analysis/structural_bias.hpp"

namespace tempera::test {

struct Planted {
  std::string check;
  std::string defect;
  std::function<void(lab::FunctionsUnderTest&)> plant;
};

/// A kernel that never moves, in place of the fixed-horizon kernel.
void local_at_rest(lab::FunctionsUnderTest& functions);
/// rung_bias with one of its numbers spoilt.
std::function<void(lab::FunctionsUnderTest&)> spoilt_bias(void (*spoil)(reference::RungBias&));

std::vector<Planted> planted_in_records();
std::vector<Planted> planted_in_kernels();
std::vector<Planted> planted_in_bounds();
std::vector<Planted> planted_in_drift();
std::vector<Planted> planted_in_four_states();
std::vector<Planted> planted_in_ladders();
std::vector<Planted> planted_in_compiled();
std::vector<Planted> planted_in_method();
std::vector<Planted> planted_in_design();
std::vector<Planted> planted_in_constructions();
std::vector<Planted> planted_in_tables();
std::vector<Planted> planted_in_samplers();
std::vector<Planted> planted_in_scope();

}  // namespace tempera::test
