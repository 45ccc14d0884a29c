#include "gpu/llm/transformer/weights/gguf.hpp"

#include <cmath>
#include <limits>

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/weights/gguf_bytes.hpp"

namespace tempera::gpu::gguf_test {

namespace {

constexpr std::uint32_t f32 = 0, q4_1 = 3, iq2_xxs = 16;

GgufContent read(const std::string& bytes) {
  return read_gguf(std::as_bytes(std::span<const char>(bytes)), "m.gguf");
}

void refused(const std::string& bytes, std::initializer_list<std::string> parts) {
  require_bad_input([&] { read(bytes); }, parts);
}

/// Two tensors: [2, 3] of F32 (24 bytes), and [1, 32] of Q4_1 (20 bytes).
GgufBytes two_tensors() {
  GgufBytes file;
  file.add_text("general.architecture", "llama");
  file.add_tensor("a", {3, 2}, f32, 0);
  file.add_tensor("b", {32, 1}, q4_1, 32);
  file.data = std::string(52, '\x01');
  return file;
}

/// The two tensors after a change.
template <class Change>
std::string changed(const Change& change) {
  auto file = two_tensors();
  change(file);
  return file.bytes();
}

}  // namespace

TEST_CASE("metadata of every type is read as gguf wrote it", "[gguf]") {
  const GgufFile file(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                      "tests/fixtures/gguf/every_type.gguf");
  const auto& metadata = file.metadata();
  CHECK(metadata.text("general.architecture") == "fixture");
  CHECK(metadata.whole_number("a.uint8", 0, 255) == 200);
  CHECK(metadata.whole_number("a.uint16", 0, 65535) == 60000);
  CHECK(metadata.whole_number("a.uint32", 0, UINT32_MAX) == 4000000000);
  CHECK(metadata.whole_number("a.uint64", 0, UINT64_MAX) == UINT64_MAX);
  for (const char* key : {"a.int8", "a.int16", "a.int32", "a.int64"}) {
    require_bad_input([&] { metadata.whole_number(key, 0, UINT64_MAX); },
                      {"every_type.gguf", key, "whole number from 0"});
  }
  CHECK(metadata.finite_number("a.float32") == static_cast<double>(0.1F));
  CHECK(metadata.finite_number("a.float64") == 1e300);
  CHECK(metadata.boolean("a.bool"));
  CHECK(metadata.boolean_or("a.missing", true));
  CHECK(metadata.text("a.string") ==
        "Gr\xC3\xB6\xC3\x9F"
        "e \xE7\x8B\x90");
  CHECK(metadata.texts("a.texts") == std::vector<std::string_view>{"one", "",
                                                                   "Gr\xC3\xB6\xC3\x9F"
                                                                   "e"});
  CHECK(metadata.whole_numbers("a.numbers", 1, 3) == std::vector<std::uint64_t>{3, 1, 2});
  CHECK(metadata.whole_numbers("a.bytes", 0, 255) == std::vector<std::uint64_t>{1, 2, 255});
  CHECK(metadata.finite_numbers("a.floats") == std::vector<double>{0.5, -1.25});
  CHECK(metadata.keys().size() == 17);
  CHECK_FALSE(metadata.has("a.missing"));
}

TEST_CASE("a value of metadata that is not what is asked for is refused by its key", "[gguf]") {
  const GgufFile file(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                      "tests/fixtures/gguf/every_type.gguf");
  const auto& metadata = file.metadata();
  require_bad_input([&] { metadata.text("a.missing"); }, {"\"a.missing\"", "is missing"});
  require_bad_input([&] { metadata.text("a.uint8"); }, {"\"a.uint8\"", "is not text"});
  require_bad_input([&] { metadata.whole_number("a.string", 0, 1); }, {"\"a.string\""});
  require_bad_input([&] { metadata.whole_number("a.float32", 0, 1); }, {"\"a.float32\""});
  require_bad_input([&] { metadata.whole_number("a.uint8", 0, 199); }, {"from 0 to 199"});
  require_bad_input([&] { metadata.whole_number("a.uint8", 201, 255); }, {"from 201"});
  require_bad_input([&] { metadata.boolean("a.uint8"); }, {"\"a.uint8\"", "true or false"});
  require_bad_input([&] { metadata.finite_number("a.uint8"); }, {"finite number"});
  require_bad_input([&] { metadata.texts("a.numbers"); }, {"array of texts"});
  require_bad_input([&] { metadata.texts("a.string"); }, {"array of texts"});
  require_bad_input([&] { metadata.whole_numbers("a.texts", 0, 1); }, {"array of whole numbers"});
  require_bad_input([&] { metadata.whole_numbers("a.numbers", 0, 2); }, {"from 0 to 2"});
  require_bad_input([&] { metadata.finite_numbers("a.numbers"); }, {"array of numbers"});
  require_bad_input([&] { metadata.booleans("a.numbers"); }, {"array of truth values"});
  require_bad_input([&] { metadata.booleans("a.bool"); }, {"array of truth values"});
}

TEST_CASE("tensors have the shape, type and bytes that the file gives them", "[gguf]") {
  const auto bytes = two_tensors().bytes();
  const auto content = read(bytes);
  REQUIRE(content.tensors.size() == 2);
  const auto& a = content.tensors.at("a");
  CHECK(a.shape == std::vector<std::uint64_t>{2, 3});
  CHECK(a.dtype == "F32");
  CHECK(a.bytes.size() == 24);
  CHECK(reinterpret_cast<const char*>(a.bytes.data()) == bytes.data() + bytes.size() - 52);
  const auto& b = content.tensors.at("b");
  CHECK(b.dtype == "Q4_1");
  CHECK(b.bytes.size() == 20);
  CHECK(reinterpret_cast<const char*>(b.bytes.data()) == bytes.data() + bytes.size() - 20);
  CHECK(b.file == "m.gguf");
  // Padding at the end, and tensors in another order than their bytes.
  CHECK_NOTHROW(read(bytes + std::string(12, '\0')));
  GgufBytes turned = two_tensors();
  turned.table.clear();
  turned.add_tensor("b", {32, 1}, q4_1, 32);
  turned.add_tensor("a", {3, 2}, f32, 0);
  turned.tensors = 2;
  CHECK_NOTHROW(read(turned.bytes()));
  turned.version = 2;
  CHECK_NOTHROW(read(turned.bytes()));
  CHECK(read(GgufBytes().bytes()).tensors.empty());
}

TEST_CASE("a file that is not GGUF is refused", "[gguf]") {
  refused("", {"m.gguf", "too short"});
  refused("GGU", {"too short"});
  refused("version https://git-lfs", {"does not begin with \"GGUF\"", "Git LFS"});
  refused("GGUF", {"header", "4"});
  refused(changed([](auto& file) { file.version = 1; }), {"version 1"});
  refused(changed([](auto& file) { file.version = 4; }), {"version 4"});
  refused(changed([](auto& file) { file.version = 0x03000000; }), {"big-endian"});
  const auto whole = two_tensors().bytes();
  for (std::size_t size = 0; size + 1 < whole.size(); ++size)
    refused(whole.substr(0, size), {"m.gguf"});
}

TEST_CASE("false counts and lengths are refused, and reserve nothing", "[gguf]") {
  const std::uint64_t huge = std::uint64_t{1} << 62;
  refused(changed([&](auto& file) { file.tensors = huge; }), {"m.gguf, tensor 3 of 46116860184"});
  refused(changed([&](auto& file) { file.values = huge; }), {"metadata"});
  refused(changed([&](auto& file) { file.values = 2; }), {"m.gguf"});
  const auto with = [](std::uint32_t type, const std::string& value) {
    return changed([&](auto& file) { file.add("key", type, value); });
  };
  const std::string bomb = little_endian(huge);
  refused(with(gguf_type::text, bomb), {"metadata \"key\"", "4611686018427387904", "truncated"});
  for (const std::uint32_t element : {0U, 4U, 8U, 9U, 12U}) {
    refused(with(gguf_type::array, little_endian(element) + bomb), {"metadata \"key\""});
  }
  refused(with(13, ""), {"\"key\"", "type 13"});
  refused(with(gguf_type::array, little_endian(99U) + little_endian<std::uint64_t>(0)),
          {"\"key\"", "type 99"});
  refused(with(gguf_type::boolean, "\x02"), {"\"key\"", "neither true nor false"});
  refused(with(gguf_type::array,
               little_endian(gguf_type::boolean) + little_endian<std::uint64_t>(2) + "\x01\x03"),
          {"\"key\"", "neither true nor false"});
  std::string deep;
  for (int i = 0; i < 100; ++i)
    deep += little_endian(gguf_type::array) + little_endian<std::uint64_t>(1);
  refused(with(gguf_type::array, deep), {"\"key\"", "deeper than 4"});
  const std::string pair = little_endian(gguf_type::array) + little_endian<std::uint64_t>(1) +
                           little_endian(gguf_type::uint32) + little_endian<std::uint64_t>(2) +
                           std::string(8, '\0');
  CHECK_NOTHROW(read(with(gguf_type::array, pair)));
  refused(changed([](auto& file) { file.add_text("general.architecture", "x"); }),
          {"\"general.architecture\"", "given twice"});
  refused(changed([](auto& file) { file.add_text("", "x"); }), {"entry 2", "empty"});
  refused(changed([](auto& file) { file.add_text("\xFF", "x"); }), {"entry 2", "UTF-8"});
}

TEST_CASE("a number that is infinite or none is refused, alone and in an array", "[gguf]") {
  const auto check = [](std::uint32_t type, auto one) {
    using Number = decltype(one);
    using Limits = std::numeric_limits<Number>;
    for (const Number value : {Limits::max(), Limits::lowest(), Limits::denorm_min(),
                               Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
      CAPTURE(type, value);
      auto bytes = two_tensors();
      bytes.add("alone", type, little_endian(value));
      bytes.add("in_array", gguf_type::array,
                little_endian(type) + little_endian<std::uint64_t>(2) + little_endian(one) +
                    little_endian(value));
      const std::string text = bytes.bytes();
      const GgufContent content = read(text);
      const GgufMetadata& metadata = content.metadata;
      if (std::isfinite(value)) {
        const std::vector<double> both{1.0, static_cast<double>(value)};
        CHECK(metadata.finite_number("alone") == static_cast<double>(value));
        CHECK(metadata.finite_numbers("in_array") == both);
        continue;
      }
      require_bad_input([&] { metadata.finite_number("alone"); }, {"\"alone\"", "finite"});
      require_bad_input([&] { metadata.finite_numbers("in_array"); }, {"\"in_array\"", "finite"});
    }
  };
  check(gguf_type::float32, 1.0F);
  check(gguf_type::float64, 1.0);
}

TEST_CASE("an alignment that is none is refused", "[gguf]") {
  const auto with = [](std::uint32_t alignment) {
    return changed([&](auto& file) {
      file.add("general.alignment", gguf_type::uint32, little_endian(alignment));
    });
  };
  refused(with(0), {"general.alignment", "from 8"});
  refused(with(20), {"general.alignment", "multiple of 8"});
  refused(with(4), {"general.alignment", "from 8"});
  refused(with((1U << 20) + 8), {"general.alignment", "to 1048576"});
  refused(with(UINT32_MAX), {"general.alignment"});
  CHECK_NOTHROW(read(with(32)));
  refused(with(64), {"\"b\"", "byte 64"});
}

TEST_CASE("a tensor with a false offset, type or shape is refused by its name", "[gguf]") {
  const auto with = [](const std::vector<std::uint64_t>& shape, std::uint32_t type,
                       std::uint64_t offset) {
    return changed([&](auto& file) {
      file.data += std::string(12, '\0') + std::string(64, '\x01');
      file.add_tensor("c", shape, type, offset);
    });
  };
  CHECK_NOTHROW(read(with({16}, f32, 64)));
  const std::string c = "tensor \"c\"";
  refused(with({16}, f32, 32), {"byte 32", "byte 64 follows"});
  refused(with({16}, f32, 96), {c, "byte 96", "byte 64 follows"});
  refused(with({16}, f32, 65), {c, "byte 65"});
  refused(with({16}, f32, UINT64_MAX - 31), {c, "byte 18446744073709551584"});
  refused(with({17}, f32, 64), {c, "68 bytes", "truncated"});
  refused(with({8}, f32, 64), {"last 32 bytes belong to no tensor"});
  refused(with({0}, f32, 64), {c, "extent of 0"});
  refused(with({16, 0}, f32, 64), {c, "extent of 0"});
  refused(with({}, f32, 64), {c, "0 extents"});
  refused(with({1, 1, 1, 1, 16}, f32, 64), {c, "5 extents"});
  const std::uint64_t huge = std::uint64_t{1} << 32;
  refused(with({huge, huge}, f32, 64), {c, "larger than the file"});
  refused(with({huge, huge, huge, huge}, f32, 64), {c, "larger than the file"});
  refused(with({33}, q4_1, 64), {c, "rows of 33", "32 in a block of Q4_1"});
  refused(with({256}, iq2_xxs, 64), {c, "IQ2_XXS is not supported", "Q8_0"});
  refused(with({16}, 4, 64), {c, "type 4 is not supported"});
  refused(with({16}, 4000000000U, 64), {c, "type 4000000000 is not supported"});
  refused(changed([](auto& file) {
            file.table.clear();
            file.add_tensor("a", {3, 2}, f32, 0);
            file.add_tensor("a", {32, 1}, q4_1, 32);
            file.tensors = 2;
          }),
          {"\"a\"", "given twice"});
  refused(changed([](auto& file) { file.add_tensor("", {1}, f32, 64); }), {"tensor 3", "empty"});
  refused(changed([](auto& file) { file.add_tensor("\xFF", {1}, f32, 64); }),
          {"tensor 3", "UTF-8"});
}

TEST_CASE("a GGUF file that cannot be read is refused", "[gguf]") {
  require_bad_input([] { GgufFile file("/nowhere/m.gguf"); }, {"/nowhere/m.gguf"});
}

}  // namespace tempera::gpu::gguf_test
