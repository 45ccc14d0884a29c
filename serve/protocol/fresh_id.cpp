#include "serve/protocol/fresh_id.hpp"

#include <cstdint>
#include <random>

namespace tempera::serve {

std::string fresh_id(const std::string& prefix) {
  static constexpr char digits[] = "0123456789abcdef";
  std::random_device source;
  std::string id = prefix;
  for (int word = 0; word < 3; ++word)
    for (std::uint32_t bits = source(), i = 0; i < 8; ++i, bits >>= 4) id += digits[bits & 15U];
  return id;
}

}  // namespace tempera::serve
