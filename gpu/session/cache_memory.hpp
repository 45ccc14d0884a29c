#pragma once

#include <cstddef>

#include "gpu/session/cache_admission.hpp"

namespace tempera::gpu {

/// The bytes that a user gave for caches, or, if these are 0, half of the memory that is free on
/// the current device now, the weights being there, and that this process may still take of it; no
/// limit if that is not known. It decides which samples are under way at once, and changes no bit
/// of any.
CacheBudget resolve_cache_memory(std::size_t given);

}  // namespace tempera::gpu
