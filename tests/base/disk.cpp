#include "base/disk.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

namespace tempera {
namespace {

/// A disk whose n-th operation fails; of a write, after half of its bytes.
class DiskThatFails final : public Disk {
 public:
  explicit DiskThatFails(std::size_t operations) : left_(operations) {}

 protected:
  int before(const char* operation, const std::filesystem::path& file) override {
    if (left_-- != 0) return 0;
    if (std::string(operation) == "written") std::ofstream(file, std::ios::app) << "new con";
    return ENOSPC;
  }

 private:
  std::size_t left_;
};

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a file is replaced whole or stays as it was, with nothing left beside it") {
  const test::TemporaryFolder work;
  const auto file = work / "page";
  std::ofstream(file) << "old";
  std::size_t refused = 0;
  for (std::size_t n = 0; content_of(file) != "new content"; ++n) {
    REQUIRE(n < 20);
    CAPTURE(n);
    DiskThatFails disk(n);
    try {
      disk.replace(file, "new content");
    } catch (const BadInput&) {
      ++refused;
    }
    CHECK((content_of(file) == "old" || content_of(file) == "new content"));
    CHECK_FALSE(std::filesystem::exists(file.string() + ".new"));
  }
  CHECK(refused >= 4);
}

TEST_CASE("what is not a place for a file is refused and stays what it is") {
  const test::TemporaryFolder work;
  Disk& disk = Disk::real();
  std::filesystem::create_directories(work / "folder");
  REQUIRE(mkfifo((work / "pipe").c_str(), 0600) == 0);
  for (const auto& path : {work / "folder", work / "pipe", work / "no folder" / "page",
                           std::filesystem::path("/dev/null")}) {
    CAPTURE(path.string());
    CHECK_THROWS_AS(disk.require_replaceable(path), BadInput);
    CHECK_THROWS_AS(disk.replace(path, "content"), BadInput);
  }
  CHECK(std::filesystem::is_directory(work / "folder"));
  CHECK(std::filesystem::is_fifo(work / "pipe"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
  disk.require_replaceable(work / "page");
  CHECK_FALSE(std::filesystem::exists(work / "page"));
}

}  // namespace tempera
