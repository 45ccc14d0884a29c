#include "base/disk.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <functional>
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

/// A disk beside which another process does something before the n-th operation.
class DiskBesideAnother final : public Disk {
 public:
  DiskBesideAnother(std::size_t operations, std::function<void()> other)
      : left_(operations), other_(std::move(other)) {}
  bool has_met() const { return has_met_; }

 protected:
  int before(const char* /*operation*/, const std::filesystem::path& /*file*/) override {
    if (left_-- == 0) {
      has_met_ = true;
      other_();
    }
    return 0;
  }

 private:
  std::size_t left_;
  std::function<void()> other_;
  bool has_met_ = false;
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

TEST_CASE("what a killed process left beside a file is no part of its next content") {
  const test::TemporaryFolder work;
  const auto file = work / "page";
  for (const std::size_t size : {0U, 1U, 11U, 12U, 100'000U}) {
    CAPTURE(size);
    std::ofstream(file.string() + ".new") << std::string(size, 'x');
    Disk::real().replace(file, "new content");
    CHECK(content_of(file) == "new content");
    CHECK_FALSE(std::filesystem::exists(file.string() + ".new"));
  }
}

TEST_CASE("two processes that make or remove the same at once both have it made or removed") {
  namespace fs = std::filesystem;
  std::size_t met = 0;
  for (std::size_t n = 0; n < 8; ++n) {
    CAPTURE(n);
    const test::TemporaryFolder work;
    const fs::path folder = work / "a" / "b" / "c";
    for (const fs::path& made : {work / "a", work / "a" / "b", folder}) {
      fs::remove_all(work / "a");
      DiskBesideAnother disk(n, [&] { fs::create_directories(made); });
      CHECK_NOTHROW(disk.make_folders(folder));
      CHECK(fs::is_directory(folder));
      met += disk.has_met() ? 1 : 0;
    }
    std::ofstream(work / "page") << "content";
    DiskBesideAnother disk(n, [&] { fs::remove(work / "page"); });
    CHECK_NOTHROW(disk.remove(work / "page"));
    CHECK_FALSE(fs::exists(work / "page"));
    met += disk.has_met() ? 1 : 0;
  }
  CHECK(met > 9);
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
