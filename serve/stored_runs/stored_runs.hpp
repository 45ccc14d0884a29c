#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// The run folders of `tempera sample --out` that are in one folder, for the page to show. They are
/// only read, and nothing else of the disk is: a run is named by its folder's own name, and neither
/// the folder nor a file in it may be a link.
class StoredRuns {
 public:
  /// Without a folder there are no runs.
  /// @throw BadInput if it is not a folder, or a run folder itself
  explicit StoredRuns(std::optional<std::filesystem::path> folder);

  /// True if a path is one of these: /runs, /runs/RUN, or /runs/RUN/PROMPT/SAMPLE with the numbers
  /// of a prompt and a sample, from 0.
  static bool is_path(std::string_view path);
  /// The answer to a request for such a path.
  /// @throw BadInput if a file is not as tempera writes it, or has too much to be shown here
  HttpResponse answer(const HttpRequest& request) const;

 private:
  HttpResponse list() const;
  HttpResponse run(const std::string& name, const std::filesystem::path& folder) const;
  HttpResponse answer(const std::string& name, const std::filesystem::path& folder,
                      std::string_view prompt, std::string_view sample) const;

  const std::optional<std::filesystem::path> folder_;
};

}  // namespace tempera::serve
