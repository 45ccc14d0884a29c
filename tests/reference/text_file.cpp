#include "reference/text_file.hpp"

#include "reference/bad_input.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera::reference;
using tempera::test::TemporaryFile;
using tempera::test::TemporaryFolder;

TEST_CASE("a file is read byte by byte up to its limit") {
  const std::string bytes("a\0\r\n\xff", 5);
  CHECK(read_text_file(TemporaryFile(bytes).path(), "mend") == bytes);
  CHECK(read_text_file(TemporaryFile("").path(), "mend").empty());
  const TemporaryFile large(std::string(2 << 20, 'x'));
  CHECK(read_text_file(large.path(), "mend", 2 << 20).size() == 2 << 20);
  CHECK_THROWS_WITH(read_text_file(large.path(), "mend", (2 << 20) - 1),
                    Catch::Contains("has more than 1 MiB"));
}

TEST_CASE("what cannot be read is refused with the system's reason") {
  const TemporaryFolder folder;
  const auto refused = [](const std::string& path, const std::string& reason) {
    CHECK_THROWS_WITH(read_text_file(path, "mend it"),
                      Catch::Contains("cannot be read: " + reason));
    CHECK_THROWS_WITH(read_text_file(path, "mend it"), Catch::Contains("; mend it"));
    CHECK_THROWS_AS(read_text_file(path, "mend it"), BadInput);
  };
  refused((folder / "missing").string(), "No such file or directory");
  refused((folder / ".").string(), "Is a directory");
  refused((folder / std::string(1000, 'x')).string(), "File name too long");
  refused("", "No such file or directory");
}
