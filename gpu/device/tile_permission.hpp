#pragma once

namespace tempera::gpu {

/// Whether the processor has the tiles of AMX-BF16.
bool processor_has_tiles();

/// Whether this process may use them: it asks the kernel for that, once. Linux gives them from 5.16
/// on, unless a thread has a signal stack that is too small for them.
bool tiles_are_permitted();

}  // namespace tempera::gpu
