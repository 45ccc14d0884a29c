#include "serve/http/line_log.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::serve::line_log_test {
namespace {

using test::TemporaryFolder;

std::string bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <class Condition>
void wait_for(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) FAIL("it has not come about within ten minutes");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string line_of(int number) { return "line " + std::to_string(number); }

std::string lines_from_to(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) text += line_of(i) + "\n";
  return text;
}

/// While it lives, no file of this process grows beyond so many bytes: EFBIG stands for ENOSPC.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

}  // namespace

TEST_CASE("lines are added to a file in their order, and a file that is made is its owner's",
          "[serve]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "log").string();
  for (const int first : {1, 1001}) {
    LineLog log(file);
    for (int i = first; i < first + 1000; ++i) log.write(line_of(i));
  }
  CHECK(bytes_of(file) == lines_from_to(1, 2000));
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a file that was moved is opened again by its name", "[serve]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "log").string();
  LineLog log(file);
  log.write(line_of(1));
  wait_for([&] { return bytes_of(file) == lines_from_to(1, 1); });
  std::filesystem::rename(file, file + ".1");
  log.write(line_of(2));
  wait_for([&] { return bytes_of(file + ".1") == lines_from_to(1, 2); });
  log.reopen();
  log.write(line_of(3));
  wait_for([&] { return std::filesystem::exists(file) && bytes_of(file) == lines_from_to(3, 3); });
  CHECK(bytes_of(file + ".1") == lines_from_to(1, 2));
}

TEST_CASE("lines wait for a full disk, whole and in order; what does not fit is counted",
          "[serve]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "log").string();
  LineLog log(file, 4000);
  {
    const SmallDisk full(30);  // in the middle of a line
    for (int i = 1; i <= 10; ++i) log.write(line_of(i));
    wait_for([&] { return bytes_of(file).size() == 30; });
    CHECK(log.lost() == 0);
    for (int i = 11; i <= 1000; ++i) log.write(line_of(i));  // some 9,000 bytes, without a wait
    CHECK(log.lost() > 400);
  }
  wait_for([&] { return bytes_of(file).size() > 3900 && bytes_of(file).back() == '\n'; });
  const std::string text = bytes_of(file);
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  CHECK(text.starts_with(lines_from_to(1, 10)));
  CHECK(text == lines_from_to(1, lines));
  log.write("the next");
  wait_for([&] { return bytes_of(file).ends_with("\nthe next\n"); });
}

TEST_CASE("as many bytes of lines wait as may, the last of them too, and not one more", "[serve]") {
  const TemporaryFolder folder;
  for (std::size_t most = 1; most <= 24; ++most) {
    CAPTURE(most);
    const std::string file = (folder / std::to_string(most)).string();
    std::string kept;
    std::uint64_t lost = 0;
    {
      LineLog log(file, most);
      const SmallDisk full(0);
      for (const std::size_t size : {7U, 3U, 0U, 9U, 2U, 5U, 0U, 1U, 4U}) {
        const std::string line(size, 'x');
        log.write(line);
        if (kept.size() + size + 1 <= most)
          kept += line + "\n";
        else
          ++lost;
        CHECK(log.lost() == lost);
      }
    }
    // The disk had room again before the log ended.
    CHECK(bytes_of(file) == kept);
  }
}

TEST_CASE("a line that the old file has a part of is whole in the new one", "[serve]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "log").string();
  LineLog log(file);
  const SmallDisk full(10);
  log.write(line_of(1));  // seven bytes with its end
  log.write(line_of(2));
  wait_for([&] { return bytes_of(file).size() == 10; });
  std::filesystem::rename(file, file + ".1");
  log.reopen();
  wait_for([&] { return std::filesystem::exists(file) && bytes_of(file) == lines_from_to(2, 2); });
}

TEST_CASE("a pipe that nobody reads holds up neither who writes nor the end", "[serve]") {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(LineLog(pipe), BadInput);  // it has no reader
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  {
    LineLog log(pipe, 1 << 20);
    const std::string line(1000, 'a');
    for (int i = 0; i < 2000; ++i) log.write(line);  // two megabytes
    CHECK(log.lost() > 500);
  }
  ::close(reader);
}

TEST_CASE("a log that cannot be opened is refused by its name", "[serve]") {
  const TemporaryFolder folder;
  for (const std::string& name : {(folder / "").string(), (folder / "no/log").string()}) {
    std::string error;
    try {
      LineLog log(name);
    } catch (const BadInput& refusal) {
      error = refusal.what();
    }
    CAPTURE(name, error);
    CHECK(error.starts_with(name + ": cannot be opened ("));
  }
}

}  // namespace tempera::serve::line_log_test
