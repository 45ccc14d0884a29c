#pragma once

#include <stdlib.h>

#include <optional>
#include <string>
#include <utility>

namespace tempera::gpu {

/// Sets a variable of the environment, or takes it away, and puts back what was there.
class WithEnvironment {
 public:
  /// TEMPERA_ISA.
  explicit WithEnvironment(const char* value) : WithEnvironment("TEMPERA_ISA", value) {}
  WithEnvironment(std::string variable, const char* value) : variable_(std::move(variable)) {
    if (const char* before = getenv(variable_.c_str())) before_ = before;
    set(value);
  }
  WithEnvironment(std::string variable, const std::string& value)
      : WithEnvironment(std::move(variable), value.c_str()) {}
  WithEnvironment(const WithEnvironment&) = delete;
  WithEnvironment& operator=(const WithEnvironment&) = delete;
  ~WithEnvironment() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      unsetenv(variable_.c_str());
    } else {
      setenv(variable_.c_str(), value, 1);
    }
  }
  std::string variable_;
  std::optional<std::string> before_;
};

}  // namespace tempera::gpu
