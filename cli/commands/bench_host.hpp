#pragma once

#include <string>

#include "gpu/core/model/arithmetic.hpp"

namespace tempera::cli {

/// Measures how fast a model decodes on the host, beside what its cores and memory can do, and
/// prints a table, or JSON. One of `shape` and `model` is not empty.
/// @throw BadInput for an unknown shape, a model that is none of token passes, and one for
/// which the memory has no room
void run_bench_host(const std::string& shape, const std::string& model, gpu::Arithmetic arithmetic,
                    bool json);

}  // namespace tempera::cli
