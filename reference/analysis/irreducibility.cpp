#include "reference/analysis/irreducibility.hpp"

#include <algorithm>

namespace tempera::reference {
namespace {

// Whether repeating `step` from state 0 collects all states.
template <class Step>
bool collects_all(std::size_t size, const Step& step) {
  std::vector<bool> collected(size);
  collected[0] = true;
  for (auto count = std::ptrdiff_t{0};
       count < std::count(collected.begin(), collected.end(), true);) {
    count = std::count(collected.begin(), collected.end(), true);
    const std::vector<bool> next = step(collected);
    for (std::size_t x = 0; x < size; ++x) {
      if (next[x]) collected[x] = true;
    }
  }
  return std::all_of(collected.begin(), collected.end(), [](bool in) { return in; });
}

}  // namespace

bool is_irreducible(const FactoredKernel& kernel) {
  std::size_t size = 1;
  for (const std::size_t states : kernel.from()) size *= states;
  return collects_all(size, [&](const auto& states) { return kernel.successors(states); }) &&
         collects_all(size, [&](const auto& states) { return kernel.predecessors(states); });
}

}  // namespace tempera::reference
