#include "cli/terminal/failure.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/device/missing_device.hpp"
#include "gpu/device/planted_fault.hpp"
#include "tests/catch.hpp"

using namespace tempera;

namespace {

struct Reported {
  int code;
  std::string said;
};

Reported report_of(const std::exception_ptr& failure) {
  std::ostringstream said;
  auto* const screen = std::cerr.rdbuf(said.rdbuf());
  const int code = cli::report(failure);
  std::cerr.rdbuf(screen);
  return {code, said.str()};
}

}  // namespace

TEST_CASE("a device that is lost in the middle of a command ends in one line and exit code 2") {
  const gpu::WithPlantedFault lost({0, {}});
  std::exception_ptr failure;
  try {
    gpu::DeviceMemory<float> memory(1);
    memory.download(0, 1);
  } catch (...) {
    failure = std::current_exception();
  }
  REQUIRE(failure);
  const Reported reported = report_of(failure);
  CHECK(reported.code == 2);
  CHECK(reported.said ==
        "tempera: the NVIDIA GPU stopped: planted: the device is lost; a run folder's checkpoint "
        "holds: resume it with --resume, on the host too\n");
}

TEST_CASE("a bug is called one, and what a user can mend is told as ever") {
  for (const auto& failure :
       {std::make_exception_ptr(std::runtime_error("odd")), std::make_exception_ptr(Bug("odd")),
        std::make_exception_ptr(std::logic_error("odd"))}) {
    const Reported reported = report_of(failure);
    CHECK(reported.code == 3);
    CHECK(reported.said ==
          "tempera: this is a bug of tempera: odd; please report it with the command and tempera "
          "--version\n");
  }
  const Reported of_model = report_of(std::make_exception_ptr(ModelError("a logit is NaN")));
  CHECK(of_model.code == 2);
  CHECK(of_model.said == "tempera: a logit is NaN\n");
  const Reported of_device = report_of(std::make_exception_ptr(DeviceError("no answer")));
  CHECK(of_device.code == 2);
  CHECK(of_device.said.starts_with("tempera: the NVIDIA GPU stopped: no answer; "));
  const Reported of_none = report_of(std::make_exception_ptr(gpu::MissingDevice("a", "b", "c")));
  CHECK(of_none.code == 2);
  CHECK(of_none.said == "tempera: a: b; c\n");
  CHECK(report_of(std::make_exception_ptr(tempera::BadInput("a", "b", "c"))).said ==
        "tempera: a: b; c\n");
  CHECK(report_of(std::make_exception_ptr(std::bad_alloc())).code == 2);
}

TEST_CASE("an exception that nothing catches is reported as a bug before the program aborts",
          "[cli]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    cli::install_terminate_handler();
    std::terminate();
  }
  ::close(ends[1]);
  std::string said(1024, '\0');
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], said.data(), 1024))));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(said.starts_with("tempera: this is a bug of tempera: "));
  CHECK(said.ends_with("tempera --version\n"));
}
