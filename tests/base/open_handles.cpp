// Every reader and writer closes its file, also one that it refuses.
#include "tests/open_handles.hpp"

#include <sys/stat.h>

#include <functional>
#include <map>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "base/text_file.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::open_handles_test {

namespace fs = std::filesystem;

TEST_CASE("what reads or writes a file leaves nothing open, whatever it is given") {
  const test::TemporaryFolder work;
  const auto any = [](auto&&...) {};
  const std::map<std::string, std::function<void(const fs::path&)>> users{
      {"text", [](const fs::path& file) { read_text_file(file); }},
      {"short text", [](const fs::path& file) { read_text_file(file, "", 2); }},
      {"whole", [](const fs::path& file) { read_whole(file); }},
      {"start", [&](const fs::path& file) { read_start(file, 3, any); }},
      {"too much", [&](const fs::path& file) { read_start(file, 4000, any); }},
      {"lines", [&](const fs::path& file) { read_lines(file, 3, any); }},
      {"append", [](const fs::path& file) { Disk::real().open_to_append(file); }},
      {"replace", [](const fs::path& file) { Disk::real().replace(file, "abc\n"); }},
      {"names", [](const fs::path& file) { Disk::real().force_names(file); }},
      {"other",
       [](const fs::path& file) {
         OpenFile open = Disk::real().open_to_append(file);
         open = Disk::real().open_to_append(file);
         const OpenFile moved(std::move(open));
       }},
      {"map",
       [&](const fs::path& file) {
         MappedFile mapped(file);
         CHECK(test::mappings_of(work / "") == (mapped.bytes().empty() ? 0 : 1));
         mapped = MappedFile(file);
         const MappedFile moved(std::move(mapped));
       }},
  };
  for (const auto& [name, use] : users) {
    CAPTURE(name);
    std::ofstream(work / "file") << "abc\n";
    std::ofstream(work / "empty");
    fs::create_directory(work / "folder");
    ::mkfifo((work / "pipe").c_str(), 0600);
    std::size_t done = 0;
    for (const char* what : {"file", "empty", "folder", "pipe", "missing"}) {
      CAPTURE(what);
      const std::size_t before = test::open_descriptors();
      try {
        use(work / what);
        ++done;
      } catch (const BadInput&) {
      }
      CHECK(test::open_descriptors() == before);
      CHECK(test::mappings_of(work / "") == 0);
      fs::remove(work / "missing");
    }
    CHECK((done > 0 || name == "short text" || name == "too much"));
  }
}

}  // namespace tempera::open_handles_test
