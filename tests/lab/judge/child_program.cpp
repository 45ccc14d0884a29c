// A judged program takes nothing of the system that is not given back, however often it is begun.
#include "lab/judge/child_program.hpp"

#include <signal.h>

#include <cerrno>

#include "tests/catch.hpp"
#include "tests/open_handles.hpp"

namespace tempera::lab::child_program_test {

TEST_CASE("a program has a socket and its stderr, and gives both back with its process") {
  const std::size_t before = test::open_descriptors();
  for (int time = 0; time < 3; ++time) {
    pid_t process = 0;
    {
      ChildProgram program("exec cat", std::chrono::minutes(10));
      program.send("one");
      CHECK(program.receive() == "one");
      CHECK(test::open_descriptors() == before + 2);
      for (int again = 0; again < 3; ++again) {
        process = program.number();
        program.restart();
        CHECK(::kill(process, 0) == -1);
        CHECK(errno == ESRCH);
        CHECK(program.receive() == "one");
        CHECK(test::open_descriptors() == before + 2);
      }
      process = program.number();
    }
    CHECK(::kill(process, 0) == -1);
    CHECK(errno == ESRCH);
    CHECK(test::open_descriptors() == before);
  }
}

}  // namespace tempera::lab::child_program_test
