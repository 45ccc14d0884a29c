#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tempera::serve {

/// What a client may take of the server before it is refused.
struct HttpLimits {
  std::size_t header_bytes = std::size_t{16} << 10;  ///< more is answered by 431
  std::size_t body_bytes = std::size_t{16} << 20;    ///< more is answered by 413
  /// The same for one path, which may take larger bodies.
  std::string large_path = {};
  std::size_t large_body_bytes = std::size_t{64} << 20;
  /// All bodies together that are held at once; more is answered by 503.
  std::size_t held_bytes = std::size_t{256} << 20;
  std::size_t unsent_bytes = std::size_t{4} << 20;  ///< a client that reads slower is dropped
  std::size_t connections = 16384;                  ///< further ones wait to be accepted
  std::chrono::seconds idle{600};                   ///< between two requests of a connection
  std::chrono::seconds request{30};                 ///< from its first byte to its last
};

}  // namespace tempera::serve
