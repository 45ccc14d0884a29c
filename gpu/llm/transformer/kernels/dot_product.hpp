#pragma once

#include <cstddef>

namespace tempera::gpu {

/// Products that every form sums in order before their sum joins the total: bounds the rounding
/// error of a long dot product by (256 + in / 256) units instead of `in`.
constexpr std::size_t run_length = 256;

}  // namespace tempera::gpu
