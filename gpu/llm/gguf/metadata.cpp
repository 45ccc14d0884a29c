#include "gpu/llm/gguf/metadata.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/utf8.hpp"

namespace tempera::gpu {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they are stored");

// The format's numbers for its types of values.
constexpr std::uint32_t float32_type = 6;
constexpr std::uint32_t boolean_type = 7;
constexpr std::uint32_t text_type = 8;
constexpr std::uint32_t array_type = 9;
constexpr std::uint32_t float64_type = 12;
/// Bytes of a value; 0 if its length is not fixed.
constexpr std::array<std::size_t, 13> value_bytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::array<bool, 13> is_signed{false, true,  false, true,  false, true, false,
                                         false, false, false, false, true,  false};
constexpr std::array<bool, 13> is_whole{true,  true,  true,  true, true, true, false,
                                        false, false, false, true, true, false};

constexpr std::size_t deepest_array = 4;

template <class Number>
Number from_bytes(std::span<const std::byte> bytes) {
  Number value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

std::span<const std::byte> GgufCursor::parts(std::uint64_t count, std::size_t size,
                                             const std::string& in) {
  if (count > left() / size) {
    throw BadInput(file_ + ", " + in,
                   "asks for " + std::to_string(count) + " times " + std::to_string(size) +
                       " bytes at byte " + std::to_string(offset_) + ", where " +
                       std::to_string(left()) + " are left",
                   download_again + " (it may be truncated)");
  }
  const auto result = bytes_.subspan(offset_, static_cast<std::size_t>(count) * size);
  offset_ += result.size();
  return result;
}

std::uint32_t GgufCursor::number32(const std::string& in) {
  return from_bytes<std::uint32_t>(parts(1, 4, in));
}

std::uint64_t GgufCursor::number64(const std::string& in) {
  return from_bytes<std::uint64_t>(parts(1, 8, in));
}

std::string_view GgufCursor::text(const std::string& in) {
  const auto length = number64(in);
  const auto bytes = parts(length, 1, in);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

GgufMetadata::GgufMetadata(GgufCursor& cursor, std::uint64_t count) : file_(cursor.file()) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key =
        cursor.text("metadata entry " + std::to_string(i + 1) + " of " + std::to_string(count));
    if (key.empty() || first_invalid_utf8(key) != key.size()) {
      throw BadInput(file_ + ", metadata entry " + std::to_string(i + 1),
                     "its key is empty or not UTF-8", download_again);
    }
    const auto in = "metadata " + in_quotes(key);
    const auto type = cursor.number32(in);
    const auto [twin, is_new] = values_.emplace(std::string(key), read_value(cursor, type, 0, in));
    if (!is_new) throw BadInput(where(key), "is given twice", "remove one of the two");
  }
}

GgufMetadata::Value GgufMetadata::read_value(GgufCursor& cursor, std::uint32_t type,
                                             std::size_t depth, const std::string& in) {
  if (type >= value_bytes.size()) {
    throw BadInput(cursor.file() + ", " + in,
                   "has type " + std::to_string(type) + ", which GGUF does not know",
                   download_again);
  }
  if (type == array_type) return read_array(cursor, depth, in);
  if (type == text_type) {
    const auto text = cursor.text(in);
    return {type, 0, 1, std::as_bytes(std::span(text))};
  }
  const auto bytes = cursor.parts(1, value_bytes[type], in);
  if (type == boolean_type && std::to_integer<unsigned>(bytes[0]) > 1)
    throw BadInput(cursor.file() + ", " + in, "is neither true nor false", download_again);
  return {type, 0, 1, bytes};
}

GgufMetadata::Value GgufMetadata::read_array(GgufCursor& cursor, std::size_t depth,
                                             const std::string& in) {
  if (depth == deepest_array) {
    throw BadInput(cursor.file() + ", " + in,
                   "nests arrays deeper than " + std::to_string(deepest_array), download_again);
  }
  Value array{array_type, cursor.number32(in), cursor.number64(in), {}};
  if (array.element >= value_bytes.size()) {
    throw BadInput(
        cursor.file() + ", " + in,
        "has elements of type " + std::to_string(array.element) + ", which GGUF does not know",
        download_again);
  }
  if (value_bytes[array.element] != 0) {
    array.bytes = cursor.parts(array.count, value_bytes[array.element], in);
    for (const auto byte : array.bytes) {
      if (array.element == boolean_type && std::to_integer<unsigned>(byte) > 1)
        throw BadInput(cursor.file() + ", " + in, "is neither true nor false", download_again);
    }
    return array;
  }
  // Every text takes 8 bytes and every array 12, so a false count ends at the end of the file.
  auto rest = cursor;
  const auto begin = cursor.offset();
  for (std::uint64_t i = 0; i < array.count; ++i) read_value(cursor, array.element, depth + 1, in);
  array.bytes = rest.parts(cursor.offset() - begin, 1, in);
  return array;
}

std::vector<std::string> GgufMetadata::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

bool GgufMetadata::has_same(std::string_view key, const GgufMetadata& other) const {
  const auto found = other.values_.find(key);
  if (found == other.values_.end()) return false;
  const auto& one = at(key);
  const auto& two = found->second;
  return one.type == two.type && one.element == two.element && one.count == two.count &&
         std::equal(one.bytes.begin(), one.bytes.end(), two.bytes.begin(), two.bytes.end());
}

std::string GgufMetadata::where(std::string_view key) const {
  return file_ + ", metadata " + in_quotes(key);
}

const GgufMetadata::Value& GgufMetadata::at(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    throw BadInput(where(key), "is missing", "convert the model again, with a newer converter");
  }
  return found->second;
}

void GgufMetadata::refuse(std::string_view key, const std::string& asked) const {
  throw BadInput(where(key), "is not " + asked, "convert the model again");
}

bool GgufMetadata::is_array(std::string_view key) const { return at(key).type == array_type; }

std::optional<double> GgufMetadata::scalar(std::string_view key) const {
  const auto& [type, element, count, bytes] = at(key);
  if (type == boolean_type) return bytes[0] == std::byte{1} ? 1.0 : 0.0;
  if (type == float32_type) return static_cast<double>(from_bytes<float>(bytes));
  if (type == float64_type) return from_bytes<double>(bytes);
  if (!is_whole[type]) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes.size() - 1);
  if (!is_signed[type] || (value & sign) == 0) return static_cast<double>(value);
  return -static_cast<double>(sign - (value & (sign - 1)));
}

std::string_view GgufMetadata::text(std::string_view key) const {
  const auto& value = at(key);
  if (value.type != text_type) refuse(key, "text");
  const std::string_view text(reinterpret_cast<const char*>(value.bytes.data()),
                              value.bytes.size());
  if (first_invalid_utf8(text) != text.size()) refuse(key, "text in UTF-8");
  return text;
}

std::uint64_t GgufMetadata::whole(std::string_view key, std::uint32_t type,
                                  std::span<const std::byte> bytes, std::uint64_t least,
                                  std::uint64_t greatest) const {
  const auto range =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(greatest);
  if (type >= is_whole.size() || !is_whole[type]) refuse(key, range);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  const bool is_negative = is_signed[type] && (value >> (8 * bytes.size() - 1)) != 0;
  if (is_negative || value < least || value > greatest) refuse(key, range);
  return value;
}

double GgufMetadata::finite(std::string_view key, std::uint32_t type,
                            std::span<const std::byte> bytes) const {
  double value = NAN;
  if (type == float32_type) value = static_cast<double>(from_bytes<float>(bytes));
  if (type == float64_type) value = from_bytes<double>(bytes);
  if (!std::isfinite(value)) refuse(key, "a finite number");
  return value;
}

std::uint64_t GgufMetadata::whole_number(std::string_view key, std::uint64_t least,
                                         std::uint64_t greatest) const {
  const auto& value = at(key);
  return whole(key, value.type, value.bytes, least, greatest);
}

double GgufMetadata::finite_number(std::string_view key) const {
  const auto& value = at(key);
  return finite(key, value.type, value.bytes);
}

bool GgufMetadata::boolean(std::string_view key) const {
  const auto& value = at(key);
  if (value.type != boolean_type) refuse(key, "true or false");
  return value.bytes[0] == std::byte{1};
}

bool GgufMetadata::boolean_or(std::string_view key, bool otherwise) const {
  return has(key) ? boolean(key) : otherwise;
}

std::vector<std::string_view> GgufMetadata::texts(std::string_view key) const {
  const auto& value = at(key);
  if (value.type != array_type || value.element != text_type) refuse(key, "an array of texts");
  GgufCursor cursor(value.bytes, file_);
  std::vector<std::string_view> texts(value.count);
  for (auto& text : texts) text = cursor.text("metadata " + in_quotes(key));
  return texts;
}

std::vector<std::uint64_t> GgufMetadata::whole_numbers(std::string_view key, std::uint64_t least,
                                                       std::uint64_t greatest) const {
  const auto& value = at(key);
  if (value.type != array_type || value.element >= is_whole.size() || !is_whole[value.element])
    refuse(key, "an array of whole numbers");
  const auto size = value_bytes[value.element];
  std::vector<std::uint64_t> numbers(value.count);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = whole(key, value.element, value.bytes.subspan(i * size, size), least, greatest);
  return numbers;
}

std::vector<bool> GgufMetadata::booleans(std::string_view key) const {
  const auto& value = at(key);
  if (value.type != array_type || value.element != boolean_type)
    refuse(key, "an array of truth values");
  std::vector<bool> truths;
  for (const auto byte : value.bytes) truths.push_back(byte == std::byte{1});
  return truths;
}

std::vector<double> GgufMetadata::finite_numbers(std::string_view key) const {
  const auto& value = at(key);
  if (value.type != array_type || (value.element != float32_type && value.element != float64_type))
    refuse(key, "an array of numbers");
  const auto size = value_bytes[value.element];
  std::vector<double> numbers(value.count);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = finite(key, value.element, value.bytes.subspan(i * size, size));
  return numbers;
}

}  // namespace tempera::gpu
