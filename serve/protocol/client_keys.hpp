#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::serve {

/// The most that a client may take; 0: it has no limit of its own.
struct ClientLimits {
  std::size_t requests = 0;           ///< requests for answers that are drawn or wait at once
  std::size_t tokens_per_minute = 0;  ///< of prompts and drawn ones, in the long run

  bool any() const { return requests > 0 || tokens_per_minute > 0; }
};

/// A client: whoever has its key.
struct NamedKey {
  std::string name;    ///< by which the access log calls it
  std::string digest;  ///< the key's SHA-256, in lower-case hexadecimal digits
  ClientLimits limits;
};

/// The keys that a server takes. Without one everybody is let in.
class ClientKeys {
 public:
  ClientKeys() = default;
  /// Reads a key file. It is one word, the key, whose client is named "key"; or a line for each:
  ///
  ///     NAME KEY [requests=N] [tokens-per-minute=N]
  ///
  /// KEY is the key, or "sha256:" and its digest. Blank lines and those that begin with "#" are
  /// left out.
  /// @throw BadInput naming `file` and the line
  static ClientKeys read(std::string_view text, const std::string& file);
  /// The same of a file. `remark` becomes a line for people if others than its owner may read a key
  /// of it, and empty if they may not.
  static ClientKeys read_file(const std::string& file, std::string& remark);

  bool empty() const { return keys_.empty(); }
  std::size_t size() const { return keys_.size(); }
  const NamedKey& operator[](std::size_t client) const { return keys_[client]; }
  /// True if the file has a key as it is, so that its owner alone should read it.
  bool shows_a_key() const { return shows_a_key_; }
  /// The client whose key an Authorization header gives as a bearer token. How long it takes
  /// depends on the header alone, and not on how much of a key is right or whose it is.
  std::optional<std::size_t> find(std::string_view authorization) const;

 private:
  std::vector<NamedKey> keys_;
  bool shows_a_key_ = false;
};

}  // namespace tempera::serve
