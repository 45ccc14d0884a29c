#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/model/language_model.hpp"
#include "gpu/text/tokenizer.hpp"
#include "lab/compiled_space.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::lab {

/// A model that a user has named: a Hugging Face folder, or the file of a finite model. Its text is
/// the tokenizer's, a finite model's tokens joined by spaces, or, in a folder without
/// tokenizer.json, the numbers of the tokens.
class OpenedModel {
 public:
  /// @throw gpu::BadInput or reference::BadInput naming file, place and remedy
  static OpenedModel open(const std::string& path);

  gpu::LanguageModel& model() const { return *model_; }
  const std::vector<gpu::TokenId>& terminal() const { return terminal_; }
  /// The prompt that a text stands for; for a finite model the empty text is the empty prompt.
  /// @throw BadInput naming `where` for invalid UTF-8, unknown tokens, a terminal token inside
  std::vector<gpu::TokenId> encode(std::string_view text, const std::string& where) const;
  std::string decode(std::span<const gpu::TokenId> tokens) const;
  /// @throw BadInput naming `where` for a prompt that the model cannot start from, or whose answer
  /// of `horizon` tokens it cannot hold
  void check_prompt(std::span<const gpu::TokenId> prompt, std::size_t horizon,
                    const std::string& where) const;

 private:
  OpenedModel() = default;

  std::string path_;
  std::unique_ptr<gpu::LanguageModel> model_;
  std::vector<gpu::TokenId> terminal_;
  std::optional<gpu::Tokenizer> tokenizer_;
  std::optional<reference::FiniteModel> finite_;
  std::size_t longest_ = 0;  ///< tokens that the model holds; 0: any number
};

}  // namespace tempera::lab
