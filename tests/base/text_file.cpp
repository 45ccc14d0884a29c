#include "base/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/mapped_file.hpp"
#include "base/regular_file.hpp"
#include "tests/bad_input.hpp"
#include "tests/temporary_file.hpp"

namespace tempera {

TEST_CASE("a file's bytes are read as they are", "[text_file]") {
  const std::string bytes("a\0\r\n\xFF", 5);
  CHECK(read_text_file(test::TemporaryFile(bytes).path()) == bytes);
  CHECK(read_text_file(test::TemporaryFile("").path()).empty());
  const std::string long_text(200001, 'x');
  CHECK(read_text_file(test::TemporaryFile(long_text).path()) == long_text);
}

TEST_CASE("a file that is too large is refused", "[text_file]") {
  const test::TemporaryFile large(std::string(2 << 20, 'x'));
  CHECK(read_text_file(large.path(), "mend", 2 << 20).size() == 2 << 20);
  require_bad_input([&] { read_text_file(large.path(), "mend", (2 << 20) - 1); },
                    {large.path(), "has more than 1 MiB; mend"});
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
}

TEST_CASE("a pipe, a socket or a device is refused at once by its name", "[text_file]") {
  const test::TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(pipe, folder / "link");
  const auto refused = [](const std::filesystem::path& file, const std::string& what) {
    require_bad_input([&] { read_text_file(file); }, {file.string(), what});
    require_bad_input([&] { MappedFile mapped(file); }, {file.string(), what});
    require_bad_input([&] { open_regular_file(file, O_RDONLY); }, {file.string(), what});
  };
  refused(pipe, "is a pipe");
  refused(folder / "link", "is a pipe");
  refused("/dev/zero", "is a device");
  refused("/dev/null", "is a device");
}

}  // namespace tempera
