#include "gpu/llm/transformer/weights/safetensors.hpp"

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::safetensors_test {

namespace {

std::map<std::string, StoredTensor> read(const std::string& bytes) {
  return read_safetensors(std::as_bytes(std::span<const char>(bytes)), "weights.safetensors");
}

void require_refused(const std::string& bytes, std::initializer_list<std::string> parts) {
  require_bad_input([&] { read(bytes); }, {"weights.safetensors"});
  require_bad_input([&] { read(bytes); }, parts);
}

/// A file of one or two float32 tensors.
std::string one(const std::string& entry, std::size_t data = 8) {
  return safetensors_bytes(R"({"a": )" + entry + "}", std::string(data, '\0'));
}
std::string two(const std::string& first, const std::string& second, std::size_t data = 16) {
  return safetensors_bytes(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": )" + first +
                               R"(}, "b": {"dtype": "F32", "shape": [2], "data_offsets": )" +
                               second + "}}",
                           std::string(data, '\0'));
}

}  // namespace

TEST_CASE("a safetensors file gives the bytes of its tensors", "[safetensors]") {
  const std::string bytes = safetensors_bytes(
      R"({"__metadata__": {"format": "pt"}, "b": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [8, 12]},)"
      R"( "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},)"
      R"( "none": {"dtype": "I64", "shape": [3, 0], "data_offsets": [12, 12]},)"
      R"( "one": {"dtype": "U8", "shape": [], "data_offsets": [12, 13]}}   )",
      "01234567abcdX");
  const auto tensors = read(bytes);
  REQUIRE(tensors.size() == 4);
  const auto& b = tensors.at("b");
  CHECK(b.dtype == "BF16");
  CHECK(b.shape == std::vector<std::uint64_t>{2, 1});
  CHECK(std::string(reinterpret_cast<const char*>(b.bytes.data()), b.bytes.size()) == "abcd");
  CHECK(tensors.at("none").bytes.empty());
  CHECK(tensors.at("one").bytes.size() == 1);
}

TEST_CASE("a header with a false length is refused", "[safetensors]") {
  require_refused("", {"0 bytes"});
  require_refused("1234567", {"7 bytes"});
  require_refused(std::string("\x05\0\0\0\0\0\0\0{}", 10), {"5 bytes", "only 2 follow"});
  require_refused(std::string(8, '\xFF') + "{}", {"18446744073709551615"});
  require_refused("version https://git-lfs.github.com/spec/v1\n", {"Git LFS pointer"});
  require_refused(std::string("\x01\xE1\xF5\x05\0\0\0\0", 8) + std::string(100'000'001, ' '),
                  {"100000001", "allows 100000000"});
}

TEST_CASE("a header that is not a JSON object of tensors is refused", "[safetensors]") {
  for (const char* header :
       {"", "[]", "{", "3", "{\"a\": 3}", "{\"a\xC3\": {}}", "{\"a\": {}} {}"}) {
    INFO(header);
    require_refused(safetensors_bytes(header, ""), {});
  }
  require_refused(
      safetensors_bytes(R"({"a": {"dtype": "F32", "shape": [0], "data_offsets": [0,0]},)"
                        R"("a": {"dtype": "F32", "shape": [0], "data_offsets": [0,0]}})",
                        ""),
      {"\"a\"", "twice"});
}

TEST_CASE("an entry that its bytes do not bear out is refused by its name", "[safetensors]") {
  for (const char* entry : {
           R"({"shape": [2], "data_offsets": [0, 8]})",
           R"({"dtype": "F31", "shape": [2], "data_offsets": [0, 8]})",
           R"({"dtype": 32, "shape": [2], "data_offsets": [0, 8]})",
           R"({"dtype": "F32", "data_offsets": [0, 8]})",
           R"({"dtype": "F32", "shape": 2, "data_offsets": [0, 8]})",
           R"({"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]})",
           R"({"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]})",
           R"({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]})",
           R"({"dtype": "F32", "shape": [2], "data_offsets": [0]})",
           R"({"dtype": "F32", "shape": [2], "data_offsets": [8, 0]})",
           R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 9]})",
           R"({"dtype": "F32", "shape": [2], "data_offsets": [8, 16]})",
           R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 18446744073709551615]})",
           // 2^62 · 4 bytes wrap to 0, and so does 2^32 · 2^32.
           R"({"dtype": "F32", "shape": [4611686018427387904], "data_offsets": [0, 0]})",
           R"({"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]})",
       }) {
    INFO(entry);
    require_refused(one(entry), {"\"a\""});
  }
}

TEST_CASE("what the format does not have is refused by its name", "[safetensors]") {
  const std::string tensor = R"("a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})";
  const std::string data(8, '\0');
  CHECK(read(safetensors_bytes("{" + tensor + R"(, "__metadata__": {}})", data)).size() == 1);
  for (const char* metadata : {"3", "null", "[]", R"({"format": 1})", R"({"nested": {}})"}) {
    CAPTURE(metadata);
    require_refused(
        safetensors_bytes("{" + tensor + R"(, "__metadata__": )" + metadata + "}", data),
        {"__metadata__"});
  }
  require_refused(one(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8], "scale": 2})"),
                  {"scale", "is not known"});
}

TEST_CASE("bytes that belong to no tensor or to two are refused", "[safetensors]") {
  CHECK(read(two("[8, 16]", "[0, 8]")).size() == 2);
  require_refused(two("[0, 8]", "[4, 12]", 12), {"\"b\"", "overlap"});
  require_refused(two("[0, 8]", "[0, 8]", 8), {"overlap"});
  require_refused(two("[0, 8]", "[12, 20]", 20), {"\"b\"", "belong to no tensor"});
  require_refused(two("[0, 8]", "[8, 16]", 17), {"last 1 bytes"});
  require_refused(two("[0, 8]", "[8, 16]", 15), {"\"b\"", "outside", "truncated"});
}

TEST_CASE("a header of very many tensors is read", "[safetensors]") {
  // No clock decides this: where each tensor costs a look at those before it, 10^5 of them ask for
  // 5·10^9 looks, minutes that nobody would wait for; near-linear reading takes a blink.
  constexpr std::size_t count = 100'000;
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    header += (i == 0 ? "" : ",") + std::string(R"("layers.)") + std::to_string(i) +
              R"(.weight":{"dtype":"BF16","shape":[1,2],"data_offsets":[)" + std::to_string(4 * i) +
              "," + std::to_string(4 * i + 4) + "]}";
  }
  const auto tensors = read(safetensors_bytes(header + "}", std::string(4 * count, '\0')));
  CHECK(tensors.size() == count);
  CHECK(tensors.at("layers.99999.weight").bytes.data() -
            tensors.at("layers.0.weight").bytes.data() ==
        4 * (count - 1));
}

TEST_CASE("a folder of one file or of many gives its tensors", "[safetensors]") {
  const TensorFiles single(qwen3_fixtures / "untied_float32");
  CHECK(single.tensors().size() == 36);
  const TensorFiles sharded(qwen3_fixtures / "tied_bfloat16_sharded");
  CHECK(sharded.tensors().size() == 24);
}

TEST_CASE("an index that its files do not bear out is refused", "[safetensors]") {
  const ModelFolder folder("tied_bfloat16_sharded");
  const std::string index = "model.safetensors.index.json";
  const std::string norm = "model.norm.weight";
  const std::string third = "model-00003-of-00003.safetensors";
  const auto read_folder = [&] { const TensorFiles files(folder.path()); };
  SECTION("a file is missing") {
    std::filesystem::remove(folder.path() / third);
    require_bad_input(read_folder, {third, "cannot be read"});
  }
  SECTION("a file is truncated") {
    std::filesystem::resize_file(folder.path() / third, 5000);
    require_bad_input(read_folder, {third, "outside", "download"});
  }
  SECTION("a tensor is in another file") {
    folder.edit_json(
        index, [&](auto& json) { json["weight_map"][norm] = "model-00001-of-00003.safetensors"; });
    require_bad_input(read_folder, {index, norm});
  }
  SECTION("a tensor is in no file") {
    folder.edit_json(index, [&](auto& json) { json["weight_map"]["x"] = third; });
    require_bad_input(read_folder, {index, "\"x\""});
  }
  SECTION("a tensor is in two files") {
    std::filesystem::copy(folder.path() / third, folder.path() / "again.safetensors");
    folder.edit_json(index, [&](auto& json) { json["weight_map"]["x"] = "again.safetensors"; });
    require_bad_input(read_folder, {third, "again.safetensors"});
  }
  SECTION("a tensor is not listed") {
    folder.edit_json(index, [&](auto& json) { json["weight_map"].erase(norm); });
    require_bad_input(read_folder, {third, norm, "is not listed in " + index});
  }
  SECTION("a key is unknown") {
    folder.edit_json(index, [&](auto& json) { json["weights"] = 1; });
    require_bad_input(read_folder, {index, "weights", "is not known"});
  }
  SECTION("a file lies elsewhere") {
    for (const char* name : {"../model.safetensors", "/etc/passwd", "", ".", ".."}) {
      INFO(name);
      folder.edit_json(index, [&](auto& json) { json["weight_map"][norm] = name; });
      require_bad_input(read_folder, {index, norm, "in this folder"});
    }
  }
  SECTION("it has no map") {
    folder.write(index, "{}");
    require_bad_input(read_folder, {index, "weight_map"});
  }
}

TEST_CASE("a folder without weights is refused", "[safetensors]") {
  const ModelFolder folder("untied_float32");
  std::filesystem::remove(folder.path() / "model.safetensors");
  require_bad_input([&] { const TensorFiles files(folder.path()); },
                    {"model.safetensors", "cannot be read"});
  std::filesystem::create_directory(folder.path() / "model.safetensors");
  require_bad_input([&] { const TensorFiles files(folder.path()); }, {"model.safetensors"});
}

}  // namespace tempera::gpu::safetensors_test
