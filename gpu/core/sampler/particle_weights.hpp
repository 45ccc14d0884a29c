#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tempera::gpu {

/// The weights of particles as tickets: W_i = max(1, round(2^44 exp(l_i − max l))) for the
/// logarithms l_i, at least one and at most 2^16 of them. Each W_i is within 2^-44 · (1 + 2^-3) of
/// its share of the largest, whose tickets are 2^44; Σ W_i <= 2^60.
/// @throw ModelError if a logarithm is NaN or infinite: an error in a score
std::vector<std::uint64_t> weight_tickets(std::span<const double> log_weights);

/// log((1/N) Σ exp(l_i)) from the logarithms and their tickets, off by (N + 2) 2^-44 at most.
double log_mean_weight(std::span<const double> log_weights, std::span<const std::uint64_t> tickets);

/// ESS = (Σ W_i)² / Σ W_i² = 1 / Σ w̄_i², w̄ the normalised weights
/// (sec:hyperparameter-configuration). For people: what decides is is_degenerate.
double effective_sample_size(std::span<const std::uint64_t> tickets);

/// Whether ESS < N/2, decided in integers: 2 (Σ W_i)² < N Σ W_i², both sides below 2^122. An ESS of
/// just N/2 is none, so that two particles are never resampled.
/// Range: as weight_tickets gives them.
bool is_degenerate(std::span<const std::uint64_t> tickets);

/// Systematic resampling as one integer lottery: all the outcomes that it can have.
///
/// Let S_j = W_1 + … + W_j and W = S_N. With U uniform on [0, 1), particle i = 0, …, N − 1 gets the
/// ancestor j for which S_{j−1} <= (i + U) W/N < S_j. Put V = U·W, uniform on [0, W): the condition
/// reads N S_{j−1} <= iW + V < N S_j. As V grows from 0 to W, iW + V runs over [iW, (i+1)W), and
/// the ancestors change only where it meets some N S_j, that is where V = N S_j mod W: at N
/// integers at most. So cut {0, …, W − 1} there. The ancestors are the same for all V between two
/// cuts, and V is there with probability (length of the cell) / W, whether it is a real number or
/// an integer: the lottery whose tickets are the lengths of the cells has the law of systematic
/// resampling at the weights W_i / W exactly, with W tickets in all.
///
/// Unbiased: particle j has as many offspring as there are m ≡ V (mod W) in [N S_{j−1}, N S_j), an
/// interval of N W_j integers, so N W_j / W in expectation, and its floor or its ceiling always.
///
/// All cells take N numbers, their ancestors N² together: so these are computed for one cell.
class SystematicResampling {
 public:
  /// Range: as weight_tickets gives them.
  explicit SystematicResampling(std::span<const std::uint64_t> weights);

  /// [N], ascending. Range: cell < tickets.size().
  std::vector<std::size_t> ancestors(std::size_t cell) const;

  std::vector<std::uint64_t> tickets;  ///< of each cell, Σ = W

 private:
  std::vector<std::uint64_t> weights_;
};

}  // namespace tempera::gpu
