#include "base/text_file.hpp"

#include "base/mapped_file.hpp"
#include "tests/gpu/transformer/architectures/model_folder.hpp"
#include "tests/temporary_file.hpp"

namespace tempera {

TEST_CASE("a file's bytes are read as they are", "[text_file]") {
  const std::string bytes("a\0\r\n\xFF", 5);
  CHECK(read_text_file(test::TemporaryFile(bytes).path()) == bytes);
  CHECK(read_text_file(test::TemporaryFile("").path()).empty());
  const std::string long_text(200001, 'x');
  CHECK(read_text_file(test::TemporaryFile(long_text).path()) == long_text);
}

TEST_CASE("what cannot be read is refused with its reason", "[text_file]") {
  const test::TemporaryFolder folder;
  const std::string long_name(1000, 'x');
  const auto both = [](const std::filesystem::path& file, const std::string& reason,
                       const std::string& remedy) {
    require_bad_input([&] { read_text_file(file); }, {"cannot be read (" + reason, remedy});
    require_bad_input([&] { MappedFile mapped(file); }, {"cannot be read (" + reason, remedy});
  };
  both(folder / "missing", "No such file or directory)", "put it there");
  both(folder / ".", "Is a directory)", "name a file");
  both(folder / long_name, "File name too long)", "give a shorter name");
  both(test::TemporaryFile("").path() + "/under-a-file", "N", "put it there");
  require_bad_input([&] { MappedFile device("/dev/null"); }, {"cannot be read"});
}

}  // namespace tempera
