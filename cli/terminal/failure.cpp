#include "cli/terminal/failure.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/missing_device.hpp"

namespace tempera::cli {
namespace {

std::string lost_device(const std::string& what) {
  const std::string why = gpu::device_failure();
  return "the NVIDIA GPU stopped: " + one_line(why.empty() ? what : why) +
         "; a run folder's checkpoint holds: resume it with --resume, on the host too";
}

std::string of_ours(const std::string& what) {
  return "this is a bug of tempera: " + one_line(what) +
         "; please report it with the command and tempera --version";
}

}  // namespace

namespace {

constexpr const char* out_of_memory =
    "not enough memory; lower the horizon, the samples or the number of rungs";
/// What the library of the host's threads throws names no type and no number.
constexpr const char* no_thread = "pthread_create has failed";

/// Ends the command in its one line if memory has run out. Unwinding would need memory too: the
/// destructor of a JSON value takes some, and one whose making failed refers to nothing.
[[noreturn]] void end_without_memory() {
  std::set_new_handler(nullptr);
  std::cout.flush();
  std::cerr << "tempera: " << out_of_memory << '\n';
  std::_Exit(2);
}

}  // namespace

int report(const std::exception_ptr& failure) {
  const auto say = [](const std::string& text, int code) {
    std::cerr << "tempera: " << text << '\n';
    return code;
  };
  try {
    std::rethrow_exception(failure);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return say(one_line(error.what()) + "; see tempera help", 2);
  } catch (const BadInput& error) {
    return say(error.what(), 2);
  } catch (const ModelError& error) {
    return say(error.what(), 2);
  } catch (const gpu::MissingDevice& error) {
    return say(error.what(), 2);
  } catch (const DeviceError& error) {
    return say(lost_device(error.what()), 2);
  } catch (const Bug& error) {
    return say(of_ours(error.what()), 3);
  } catch (const std::filesystem::filesystem_error& error) {
    return say(one_line(error.path1().string()) + ": " + error.code().message() +
                   "; give a file or folder that can be read",
               2);
  } catch (const std::bad_alloc&) {
    return say(out_of_memory, 2);
  } catch (const std::exception& error) {
    // A lost device fails in whatever was next: the driver's own reason says more.
    if (!gpu::device_failure().empty()) return say(lost_device(error.what()), 2);
    if (std::string_view(error.what()).starts_with(no_thread))
      return say("the system gives no more threads (" + one_line(error.what()) +
                     "); give fewer --threads, or more memory",
                 2);
    return say(of_ours(error.what()), 3);
  }
}

namespace {

/// Has what is made before main end in one line too if there is no memory for it. Nothing of this
/// program is made before this.
[[gnu::constructor(101)]] void install_new_handler() {
  static const std::ios_base::Init streams;  // which the handler writes to
  std::set_new_handler(end_without_memory);
}

}  // namespace

void install_terminate_handler() {
  std::set_terminate([] {
    if (gpu::device_failure().empty()) {
      // Takes no memory, which may be what was missing.
      std::fputs(
          "tempera: this is a bug of tempera: an exception that nothing catches; please report it "
          "with the command and tempera --version\n",
          stderr);
      std::abort();
    }
    const std::exception_ptr failure = std::current_exception();
    std::_Exit(report(failure ? failure : std::make_exception_ptr(std::runtime_error(""))));
  });
}

}  // namespace tempera::cli
