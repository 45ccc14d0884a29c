#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tempera/options.hpp"

/// What a setting is if nobody gives it. resolve() and its kin take it from here, and so do the
/// texts that tell it to users. No other source writes such a number but tempera/options.hpp, for
/// what is declared there.
namespace tempera::gpu::defaults {

// A run of a sampler: resolve_sampler.
inline constexpr std::array<double, 3> powers{1.0, 2.0, 4.0};
inline constexpr std::size_t horizon = 64;
inline constexpr std::size_t rounds = 4;
inline constexpr std::size_t local_moves = 1;
inline constexpr std::size_t sweeps = 1;
inline constexpr std::size_t particles = 8;
inline constexpr std::size_t samples = 1;
inline constexpr std::uint64_t seed = 0;
/// B of a run: T/4, rounded up.
constexpr std::size_t block(std::size_t own_horizon) { return (own_horizon + 3) / 4; }

// A law that is enumerated, whose T is a few tokens: resolve_exact.
inline constexpr std::size_t exact_rounds = 1;
/// B of an exact comparison: T/2, rounded up. With T/4 no stage would have a restart position to
/// choose.
constexpr std::size_t exact_block(std::size_t own_horizon) { return (own_horizon + 1) / 2; }
inline constexpr std::array<double, 3> ablation_powers{1.0, 3.0, 9.0};

// The pilots of a ladder: resolve_ladder.
inline constexpr std::size_t pilot_rounds = 20;
inline constexpr std::size_t pilots = 4;

// How work is laid out, which changes no bit of an answer.
inline constexpr std::size_t batch = tempera::SessionOptions{}.largest_batch;
inline constexpr std::size_t under_way = tempera::SessionOptions{}.in_flight;
inline constexpr double checkpoint_seconds = 0.5;

// A comparison of samplers on problems.
inline constexpr std::uint64_t comparison_seed = 1;

}  // namespace tempera::gpu::defaults
