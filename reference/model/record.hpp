#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tempera::reference {

/// A token is its index in the model's vocabulary.
using Token = std::uint32_t;

/// A completion record without its ⊥ padding: the generated tokens, of which only the last can be
/// terminal. Padding is implied by the horizon (eq:theory-absorbing-law).
struct Record {
  std::vector<Token> tokens;
  bool terminated = false;

  /// len(x): generated tokens, the terminal one included.
  std::size_t length() const { return tokens.size(); }
  /// τ(x), counted from 1; nothing when no terminal token was emitted.
  std::optional<std::size_t> terminal_position() const {
    return terminated ? std::optional(tokens.size()) : std::nullopt;
  }
};

}  // namespace tempera::reference
