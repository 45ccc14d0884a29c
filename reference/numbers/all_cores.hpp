#pragma once

#include <cstddef>
#include <functional>

namespace tempera::reference {

/// Calls work(i) for i in 0..count - 1 on all cores, or in this thread if there are fewer than
/// `worth`, which others would not save time for; work must not throw.
void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work,
                  std::size_t worth = 2);

}  // namespace tempera::reference
