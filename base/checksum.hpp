#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tempera {

/// FNV-1a, 64 bits, of bytes as they come: tells a file that was cut, edited, garbled or brought
/// from another run. It is no signature: who wants to forge one can.
class Checksum {
 public:
  /// What each byte is multiplied by, after it was taken in by exclusive or.
  static constexpr std::uint64_t factor = 0x100000001B3U;

  explicit Checksum(std::uint64_t value = 0xCBF29CE484222325U) : value_(value) {}
  void update(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * factor;
  }
  std::uint64_t value() const { return value_; }
  friend bool operator==(const Checksum&, const Checksum&) = default;

 private:
  std::uint64_t value_;
};

/// Bytes that are to be taken into a checksum.
struct ChecksumPiece {
  Checksum* checksum = nullptr;
  std::string_view bytes;
};

/// The same as checksum->update(bytes) of each piece, in less time: every multiplication waits for
/// the one before it in its own checksum, and not for those of others, so four long pieces take
/// hardly longer than one.
/// @pre the checksums are different objects
void update_together(std::span<const ChecksumPiece> pieces);

/// The 16 digits of a checksum.
inline std::string hexadecimal(const Checksum& checksum) {
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = "0123456789abcdef"[checksum.value() >> (60 - 4 * i) & 15U];
  return text;
}

}  // namespace tempera
