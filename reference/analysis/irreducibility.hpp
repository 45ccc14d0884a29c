#pragma once

#include "reference/kernels/factored_kernel.hpp"

namespace tempera::reference {

/// Whether every state reaches every other: the graph of the kernel's positive entries is strongly
/// connected.
bool is_irreducible(const FactoredKernel& kernel);

}  // namespace tempera::reference
