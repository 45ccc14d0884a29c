#pragma once

#include <stdlib.h>

#include <optional>
#include <string>

namespace tempera::gpu {

/// Sets TEMPERA_ISA, or takes it away, and puts back what was there.
class WithEnvironment {
 public:
  explicit WithEnvironment(const char* value) {
    if (const char* before = getenv("TEMPERA_ISA")) before_ = before;
    set(value);
  }
  WithEnvironment(const WithEnvironment&) = delete;
  WithEnvironment& operator=(const WithEnvironment&) = delete;
  ~WithEnvironment() { set(before_ ? before_->c_str() : nullptr); }

 private:
  static void set(const char* value) {
    if (value == nullptr) {
      unsetenv("TEMPERA_ISA");
    } else {
      setenv("TEMPERA_ISA", value, 1);
    }
  }
  std::optional<std::string> before_;
};

}  // namespace tempera::gpu
