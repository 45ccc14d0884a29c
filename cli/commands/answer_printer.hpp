#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/terminal/progress_line.hpp"
#include "runs/job.hpp"

namespace tempera::cli {

/// Prints the answers as they come: for people their text, one after the other; of a file of
/// prompts, one JSON object a line; with --json, one JSON document with a line for each.
class AnswerPrinter {
 public:
  /// The settings must be resolved before the first answer, and outlive the object as `line` must.
  AnswerPrinter(const gpu::SamplingSettings& settings, bool json, bool summary, ProgressLine& line)
      : settings_(settings), json_(json), summary_(summary), line_(line) {}

  void print(const gpu::SampledAnswer& sampled);
  /// speed: of the process; null if it drew nothing. folder: of the run, whose chains are judged;
  /// empty if there is none.
  void end(const nlohmann::ordered_json& summary, const nlohmann::ordered_json& speed,
           const std::filesystem::path& folder);

 private:
  void begin();

  const gpu::SamplingSettings& settings_;
  bool json_;
  bool summary_;
  ProgressLine& line_;
  bool begun_ = false;
  std::size_t printed_ = 0;
};

}  // namespace tempera::cli
