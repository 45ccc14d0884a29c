#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace tempera::serve {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// SplitMix64: the inputs are the same everywhere. TEMPERA_FUZZ_SEED chooses others, so that a long
/// run can be had in parts.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed + from_environment("TEMPERA_FUZZ_SEED", 0)) {}
  std::uint64_t below(std::uint64_t limit) {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return (z ^ (z >> 31)) % limit;
  }
  template <class List>
  const auto& of(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

/// One of the good texts after up to four changes: a flipped bit, bytes put in, cut out or doubled,
/// an end cut off, or another text's end.
/// @param stones what readers stumble over
inline std::string mutated(Chance& chance, const std::vector<std::string>& good,
                           const std::vector<std::string>& stones) {
  std::string text = chance.of(good);
  for (std::uint64_t times = chance.below(5); times > 0; --times) {
    const std::size_t at = chance.below(text.size() + 1);
    const std::size_t length = chance.below(12);
    switch (chance.below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << chance.below(8)));
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(chance.below(256)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.insert(at, chance.of(stones));
        break;
      case 5:
        text = text.substr(0, at);
        break;
      default: {
        const std::string& other = chance.of(good);
        text = text.substr(0, at) + other.substr(chance.below(other.size()));
      }
    }
  }
  return text;
}

/// How many inputs one run tries: TEMPERA_FUZZ_INPUTS, or some thousands.
inline std::uint64_t asked_inputs() { return from_environment("TEMPERA_FUZZ_INPUTS", 30000); }

}  // namespace tempera::serve
