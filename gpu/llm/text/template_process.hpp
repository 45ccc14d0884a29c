#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace tempera::gpu {

/// The limits of a chat template in the child process.
struct TemplateLimits {
  double processor_seconds = 2.0;  ///< of each rendering
  /// That an answer is waited for. A machine under load gives little processor time a second.
  std::chrono::seconds wait{60};
  std::size_t mebibytes = 512;                      ///< of address space
  std::size_t text_bytes = std::size_t{64} << 20U;  ///< of one answer
};

/// Renders chat templates by Jinja2 in a child process, python3, which starts with the first task
/// and is kept. The child has given up files, the network and all but 24 system calls before it
/// reads a template (python/tempera/template_engine.py). A child that ends, or does not answer in
/// time, is killed and fails its task alone: the next task has another.
class TemplateProcess {
 public:
  explicit TemplateProcess(TemplateLimits limits = {});
  ~TemplateProcess();
  TemplateProcess(const TemplateProcess&) = delete;
  TemplateProcess& operator=(const TemplateProcess&) = delete;

  /// The line that answers a task, a line as well. Any thread may ask; tasks take turns.
  /// @throw BadInput if there is no python3 or no Jinja2, if the kernel does not limit the child,
  /// and if the task takes more than the limits
  std::string answer(const std::string& task);
  /// The child that is kept; 0 if there is none.
  pid_t child() const;

 private:
  class Child;
  std::optional<std::string> ask(const std::string& task, bool is_kept);

  const TemplateLimits limits_;
  mutable std::mutex mutex_;
  std::unique_ptr<Child> child_;
};

}  // namespace tempera::gpu
