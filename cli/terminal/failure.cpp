#include "cli/terminal/failure.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
#include <system_error>

#include "gpu/device/device_system.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::cli {

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
  } catch (const BadInput& error) {
    return say(error.what(), 2);
  } catch (const std::domain_error& error) {
    // A model that gives no numbers: the message says whose fault that is.
    return say(one_line(error.what()), 2);
  } catch (const std::filesystem::filesystem_error& error) {
    return say(one_line(error.path1().string()) + ": " + error.code().message() +
                   "; give a file or folder that can be read",
               2);
  } catch (const std::bad_alloc&) {
    return say("not enough memory; lower the horizon, the samples or the number of rungs", 2);
  } catch (const std::exception& error) {
    if (const std::string why = gpu::device_failure(); !why.empty())
      return say("the NVIDIA GPU stopped: " + one_line(why) +
                     "; a run folder's checkpoint holds: --resume goes on, on the host too",
                 2);
    return say("internal error: " + one_line(error.what()), 3);
  }
}

void end_in_words() {
  std::set_terminate([] {
    if (gpu::device_failure().empty()) std::abort();
    const std::exception_ptr failure = std::current_exception();
    std::_Exit(report(failure ? failure : std::make_exception_ptr(std::runtime_error(""))));
  });
}

}  // namespace tempera::cli
