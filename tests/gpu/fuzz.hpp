// Bounded-time fuzzing of what reads files: valid files are mutated, and every outcome must be
// success or a BadInput of one line. GCC has no libFuzzer, so the driver is this file; the
// sanitizers of the `sanitize` preset turn what it finds into failures.
//
// TEMPERA_FUZZ_SECONDS: seconds per reader (default 0.5). TEMPERA_FUZZ_SEED: printed, default 1.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

inline double from_environment(const char* name, double otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atof(value);
}

/// Mutates bytes in the ways that files break: bits, cuts, copies, and numbers and tokens of JSON.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }

  std::string operator()(std::string bytes) {
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) bytes = change(std::move(bytes));
    return bytes;
  }

 private:
  std::string change(std::string bytes) {
    static const std::vector<std::string> snippets = {"-1",
                                                      "0",
                                                      "18446744073709551615",
                                                      "9223372036854775808",
                                                      "1e308",
                                                      "1e-400",
                                                      "null",
                                                      "true",
                                                      "{}",
                                                      "[]",
                                                      "\"\"",
                                                      "\\u0000",
                                                      "\\ud800",
                                                      "\xFF",
                                                      "\xED\xA0\x80",
                                                      "4294967296",
                                                      "F16",
                                                      "[[[[",
                                                      "NaN",
                                                      "(?R)",
                                                      "(a+)+",
                                                      "\\",
                                                      "\"",
                                                      ",",
                                                      "}",
                                                      "65536",
                                                      "1"};
    const std::size_t offset = below(bytes.size() + 1);
    const std::size_t rest = bytes.size() - offset;
    const std::size_t length = std::min(rest, below(2) == 0 ? below(8) : below(200));
    switch (below(7)) {
      case 0:
        if (rest > 0) bytes[offset] ^= static_cast<char>(1U << below(8));
        return bytes;
      case 1:
        return bytes.substr(0, offset);
      case 2:
        return bytes.erase(offset, length);
      case 3:
        return bytes.insert(offset, bytes.substr(offset, length));
      case 4:
        return bytes.insert(offset, snippets[below(snippets.size())]);
      case 5:
        return bytes.replace(offset, length, snippets[below(snippets.size())]);
      default: {
        // A number in the text, or whatever is after a colon, becomes something else.
        const auto colon = bytes.find(':', offset);
        if (colon == std::string::npos) return bytes;
        const auto end = bytes.find_first_of(",}", colon);
        return bytes.replace(colon + 1, end == std::string::npos ? 1 : end - colon - 1,
                             snippets[below(snippets.size())]);
      }
    }
  }

  std::mt19937_64 engine_;
};

struct Outcome {
  std::uint64_t tried = 0;
  std::uint64_t refused = 0;
  std::string failure;  // empty if every outcome was success or a BadInput of one line
};

/// Runs `read` on mutations of one of the files until the time is up or it fails; on a busy machine
/// until one is refused too, of the first 1,000.
inline Outcome try_mutations(const std::vector<std::string>& files,
                             const std::function<void(const std::string&)>& read,
                             std::uint64_t seed, double seconds) {
  Mutator mutate(seed);
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    return std::chrono::steady_clock::now() - start >= std::chrono::duration<double>(seconds);
  };
  while (outcome.failure.empty() &&
         (!is_over() || (outcome.refused == 0 && outcome.tried < 1000))) {
    const auto bytes = mutate(files[mutate.below(files.size())]);
    ++outcome.tried;
    try {
      read(bytes);
    } catch (const BadInput& error) {
      ++outcome.refused;
      if (std::string(error.what()).find('\n') != std::string::npos) outcome.failure = error.what();
    } catch (const std::exception& error) {
      outcome.failure = error.what();
    }
  }
  return outcome;
}

/// Mutations of files that must be read as they are, for this share of a reader's time.
inline void fuzz(const char* reader, const std::vector<std::string>& files,
                 const std::function<void(const std::string&)>& read, double share = 1.0) {
  const auto seed = static_cast<std::uint64_t>(from_environment("TEMPERA_FUZZ_SEED", 1));
  for (const auto& file : files) REQUIRE_NOTHROW(read(file));
  const auto outcome =
      try_mutations(files, read, seed, share * from_environment("TEMPERA_FUZZ_SECONDS", 0.5));
  std::cout << reader << ": seed " << seed << ", " << outcome.tried << " files, " << outcome.refused
            << " refused\n";
  INFO(reader << ", seed " << seed << ", case " << outcome.tried);
  CHECK(outcome.failure == "");
  CHECK(outcome.refused > 0);
}

}  // namespace tempera::gpu
