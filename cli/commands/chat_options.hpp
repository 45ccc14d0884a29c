#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "gpu/session/resolve.hpp"

namespace tempera::cli {

/// Whether a text is taken as a user's turn, and how: --chat and --thinking.
class ChatOptions {
 public:
  /// Declares both options of `command`; this object must outlive it.
  void add_to(CLI::App& command);
  /// @throw BadInput where --thinking stands without --chat
  void check() const;

  bool chat() const { return chat_; }
  gpu::Thinking thinking() const;
  /// What a text stands for: the user's turn of a conversation, or itself.
  gpu::PromptWish prompt_of(const std::string& text) const;

 private:
  bool chat_ = false;
  std::string choice_;
  CLI::Option* chat_option_ = nullptr;
  CLI::Option* thinking_option_ = nullptr;
};

}  // namespace tempera::cli
