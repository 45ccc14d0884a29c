#pragma once

#include <istream>
#include <string>
#include <vector>

namespace tempera::gpu {

/// A prompt of a file of prompts.
struct PromptLine {
  std::string id;
  std::string text;
  std::string where;  ///< file and line, for messages
};

/// Prompts from lines of {"id": "…", "prompt": "…"}.
/// @throw BadInput naming `file`, line and remedy for a line that is anything else (empty lines,
/// unknown, missing and doubled keys), an id that occurs twice, or a file without prompts
std::vector<PromptLine> read_prompts(std::istream& lines, const std::string& file);
/// The same of a file.
std::vector<PromptLine> read_prompt_file(const std::string& file);

}  // namespace tempera::gpu
