#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// Walks over the bytes of a GGUF file, little-endian, and never past their end.
///
/// Every reader throws BadInput naming the file, the place (`in`) and the byte where what it asks
/// for does not fit into what is left.
class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> bytes, std::string file)
      : bytes_(bytes), file_(std::move(file)) {}

  std::uint32_t number32(const std::string& in);
  std::uint64_t number64(const std::string& in);
  /// A length in 64 bits and so many bytes; valid as long as the file's bytes.
  std::string_view text(const std::string& in);
  /// The next `count` parts of `size` bytes each.
  std::span<const std::byte> parts(std::uint64_t count, std::size_t size, const std::string& in);

  std::size_t offset() const { return offset_; }
  std::size_t left() const { return bytes_.size() - offset_; }
  const std::string& file() const { return file_; }

 private:
  std::span<const std::byte> bytes_;
  std::string file_;
  std::size_t offset_ = 0;
};

/// What a GGUF file says about its model: values by key, each with the type that the file gives it.
/// They refer to the file's bytes, which must outlive this object.
///
/// Every reader of a value throws BadInput naming file and key if it is missing or not what is
/// asked for.
class GgufMetadata {
 public:
  /// Reads `count` entries of any of the format's types.
  /// @throw BadInput naming file, key and remedy for an unknown type, a count or length that the
  /// file cannot hold, a truth value other than 0 and 1, arrays nested deeper than 4, a key that is
  /// empty, not UTF-8, or given twice
  GgufMetadata(GgufCursor& cursor, std::uint64_t count);

  bool has(std::string_view key) const { return values_.contains(key); }
  bool is_array(std::string_view key) const;
  /// A number of any type, or 1 for true and 0 for false; nothing if the value is none of these.
  std::optional<double> scalar(std::string_view key) const;
  std::vector<std::string> keys() const;

  /// Text in UTF-8.
  std::string_view text(std::string_view key) const;
  /// A whole number of any width in [least, greatest].
  std::uint64_t whole_number(std::string_view key, std::uint64_t least,
                             std::uint64_t greatest) const;
  double finite_number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  /// The same, or `otherwise` if the key is missing.
  bool boolean_or(std::string_view key, bool otherwise) const;

  /// Whether `other` has the key too, with the same type and value.
  bool has_same(std::string_view key, const GgufMetadata& other) const;

  /// An array of such. The texts are those of the file, UTF-8 or not.
  std::vector<std::string_view> texts(std::string_view key) const;
  std::vector<std::uint64_t> whole_numbers(std::string_view key, std::uint64_t least,
                                           std::uint64_t greatest) const;
  std::vector<double> finite_numbers(std::string_view key) const;
  std::vector<bool> booleans(std::string_view key) const;

  /// The file and the key, for errors about what a value means.
  std::string where(std::string_view key) const;
  const std::string& file() const { return file_; }

 private:
  struct Value {
    std::uint32_t type;
    std::uint32_t element = 0;  // of an array
    std::uint64_t count = 1;    // of its elements
    std::span<const std::byte> bytes;
  };
  static Value read_value(GgufCursor& cursor, std::uint32_t type, std::size_t depth,
                          const std::string& in);
  static Value read_array(GgufCursor& cursor, std::size_t depth, const std::string& in);
  const Value& at(std::string_view key) const;
  [[noreturn]] void refuse(std::string_view key, const std::string& asked) const;
  std::uint64_t whole(std::string_view key, std::uint32_t type, std::span<const std::byte> bytes,
                      std::uint64_t least, std::uint64_t greatest) const;
  double finite(std::string_view key, std::uint32_t type, std::span<const std::byte> bytes) const;

  std::string file_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace tempera::gpu
