#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "base/error.hpp"
#include "tests/catch.hpp"

namespace tempera {

/// `action` throws a BadInput whose one line contains every one of `parts`.
inline void require_bad_input(const std::function<void()>& action,
                              std::initializer_list<std::string> parts) {
  std::string message;
  try {
    action();
  } catch (const BadInput& error) {
    message = error.what();
  }
  INFO("the message is: " << message);
  REQUIRE_FALSE(message.empty());
  CHECK(message.find('\n') == std::string::npos);
  for (const auto& part : parts) {
    INFO("it should contain: " << part);
    CHECK(message.find(part) != std::string::npos);
  }
}

}  // namespace tempera
