#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/enumerate/real.hpp"
#include "lab/laws/law_question.hpp"
#include "lab/laws/shipped_models.hpp"

namespace tempera::lab {

/// How far the compiled sampler is from its targets on one use of a shipped model: LawReport
/// without its matrix.
struct ShippedLaw {
  std::string model;
  std::size_t horizon = 0;
  std::vector<double> powers;
  std::vector<reference::Rational> restart;  ///< ω over 1..T; empty: uniform
  std::size_t states = 0;
  Real tv_to_target;
  Real tv_own;
  Real tv_one_step;
  std::size_t stale_records = 0;
  double seconds = 0.0;

  /// Whether every distance is a number below its bound, with no stale record.
  bool holds() const;
};

/// The bound on tv_to_target. A float32 logit errs by 2^-24 of itself, which moves p0(x)^α by less
/// than 2 α T |ℓ| 2^-24 of itself: 1e-6 at α T |ℓ| = 8.
extern const Real target_bound;
/// The bound on tv_own and on tv_one_step; derived at flow_bound (lab/defects/gallery.hpp).
extern const Real own_bound;

/// Enumerates the compiled sampler on every use: at its power alone (K = 1), and on its ladder
/// if that has more rungs. `done` is told each law and how many there are in all. `most`: laws
/// that are larger are left out.
std::vector<ShippedLaw> shipped_laws(
    const std::vector<ShippedUse>& uses,
    const std::function<void(const ShippedLaw&, std::size_t)>& done = {},
    MakeRows rows = gpu::make_device_row_lottery, const WalkedSize& most = {});

}  // namespace tempera::lab
