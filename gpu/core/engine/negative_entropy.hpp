#pragma once

#include <cstddef>
#include <vector>

#include "gpu/device/device_memory.hpp"

namespace tempera::gpu {

/// Σ_v p(v) log p(v) of each row, p = softmax of its logits: what the paper's confidence is the
/// mean of. Computed on the host in double, in the order of the vocabulary, each row by one thread,
/// so that its bits depend on its logits alone.
///
/// logits: [rows, vocabulary] or longer, sound rows: no NaN, no +infinity, at least one token
/// allowed. Error: below (vocabulary + 100) 2^-53 times the largest |log p| that counts, 750.
std::vector<double> negative_entropies(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                       std::size_t rows);

}  // namespace tempera::gpu
