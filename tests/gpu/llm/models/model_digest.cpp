// The digest of a model against its definition, computed from a text in memory.
#include "gpu/llm/models/model_digest.hpp"

#include <fstream>
#include <map>

#include "base/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::model_digest_test {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::string naive(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [name, bytes] : files) {
    std::string taken = std::to_string(bytes.size()) + '\n';
    if (bytes.size() <= 4 * mebibyte) {
      taken += bytes;
    } else {
      taken += bytes.substr(0, mebibyte);
      for (std::size_t place = 1; place <= 256; ++place)
        taken += bytes.substr(mebibyte + (bytes.size() - mebibyte - 4096) / 256 * place, 4096);
      taken += bytes.substr(bytes.size() - 4096);
    }
    all += name + '\n' + sha256(taken) + '\n';
  }
  return sha256(all);
}

}  // namespace

TEST_CASE("a model's digest is that of its definition, and every place that it reads counts") {
  const test::TemporaryFolder work;
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(work / name, std::ios::binary) << bytes;
  };
  std::map<std::string, std::string> files{
      {"config.json", "{}"}, {"tokenizer.json", "{\"a\": 1}"}, {"chat_template.jinja", "x"}};
  for (const auto& [name, bytes] : files) write(name, bytes);
  write("notes.txt", "of no model");
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 4 * mebibyte, 4 * mebibyte + 1,
                                 5 * mebibyte + 4096 + 255}) {
    CAPTURE(size);
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i >> 5);
    files["model.safetensors"] = bytes;
    write("model.safetensors", bytes);
    const std::string whole = model_digest((work / "").string());
    CHECK(whole == naive(files));
    if (size == 0) continue;
    const std::size_t room = size > 4 * mebibyte ? (size - mebibyte - 4096) / 256 : 0;
    std::vector<std::size_t> places{0, size / 3, size - 1};
    if (room > 0)
      for (const std::size_t place : {1, 2, 100, 255, 256})
        for (const std::size_t at : {std::size_t{0}, std::size_t{4095}})
          places.push_back(mebibyte + room * place + at);
    if (room > 0) places.insert(places.end(), {mebibyte - 1, mebibyte + 1, mebibyte + room - 1});
    std::size_t seen = 0;
    for (const std::size_t place : places) {
      CAPTURE(place);
      files["model.safetensors"] = bytes;
      files["model.safetensors"][place] ^= 4;
      write("model.safetensors", files["model.safetensors"]);
      const std::string other = model_digest((work / "").string());
      CHECK(other == naive(files));
      seen += other == whole ? 0 : 1;
    }
    CHECK(seen >= places.size() - 3);
  }
  // Each small file by each of its bytes, and by its name.
  const std::string whole = model_digest((work / "").string());
  for (const char* name : {"config.json", "tokenizer.json", "chat_template.jinja"}) {
    const std::string bytes = files[name];
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] ^= 1;
      write(name, damaged);
      CHECK(model_digest((work / "").string()) != whole);
    }
    write(name, bytes);
  }
  CHECK(model_digest((work / "").string()) == whole);
  std::filesystem::rename(work / "config.json", work / "other.json");
  CHECK(model_digest((work / "").string()) != whole);
}

}  // namespace tempera::gpu::model_digest_test
