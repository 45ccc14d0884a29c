#pragma once

#include <cstddef>

namespace tempera::serve {

/// Whether the texts are equal. Which bytes are read, and how often, depends on the two lengths
/// alone: so the time tells nobody how much of a guess is right.
/// @tparam Given, Key have size(), and operator[] for bytes
/// @pre the key is not empty
template <class Given, class Key>
bool is_same_key(const Given& given, const Key& key) {
  // The compiler may not end the loop early: what it computes is written to memory each time.
  volatile unsigned differs = given.size() == key.size() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i)
    differs = differs | (static_cast<unsigned char>(given[i]) ^
                         static_cast<unsigned char>(key[i % key.size()]));
  return differs == 0;
}

}  // namespace tempera::serve
