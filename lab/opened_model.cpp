#include "lab/opened_model.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "gpu/input/bad_input.hpp"
#include "gpu/transformer/architectures/qwen3.hpp"

namespace tempera::lab {

OpenedModel OpenedModel::open(const std::string& path) {
  OpenedModel opened;
  opened.path_ = path;
  if (!std::filesystem::exists(path))
    throw gpu::BadInput(path, "does not exist",
                        "give a folder with config.json and model.safetensors, or a finite model");
  if (!std::filesystem::is_directory(path)) {
    opened.finite_ = reference::load_finite_model(path);
    opened.model_ = finite_table(*opened.finite_);
    opened.terminal_ = terminal_tokens(*opened.finite_);
    return opened;
  }
  auto transformer = gpu::Transformer::load(path);
  opened.terminal_.assign(transformer->terminal_tokens().begin(),
                          transformer->terminal_tokens().end());
  opened.longest_ = transformer->max_position();
  opened.model_ = std::move(transformer);
  if (std::filesystem::exists(std::filesystem::path(path) / "tokenizer.json"))
    opened.tokenizer_ = gpu::Tokenizer::load(path);
  return opened;
}

std::vector<gpu::TokenId> OpenedModel::encode(std::string_view text,
                                              const std::string& where) const {
  if (tokenizer_) return tokenizer_->encode(text, where);
  std::vector<gpu::TokenId> tokens;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    std::optional<gpu::TokenId> token;
    if (finite_) {
      token = finite_->find_token(word);
    } else {
      gpu::TokenId number = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error == std::errc() && end == word.data() + word.size() &&
          number < model_->vocabulary_size())
        token = number;
    }
    if (!token)
      throw gpu::BadInput(where, "'" + word + "' is no token of " + path_,
                          finite_ ? "use the tokens of its vocabulary, separated by spaces"
                                  : "the folder has no tokenizer.json: give token numbers below " +
                                        std::to_string(model_->vocabulary_size()));
    tokens.push_back(*token);
  }
  return tokens;
}

std::string OpenedModel::decode(std::span<const gpu::TokenId> tokens) const {
  if (tokenizer_) return tokenizer_->decode(tokens);
  std::string text;
  for (const gpu::TokenId token : tokens)
    text += (text.empty() ? "" : " ") +
            (finite_ ? finite_->vocabulary()[token] : std::to_string(token));
  return text;
}

void OpenedModel::check_prompt(std::span<const gpu::TokenId> prompt, std::size_t horizon,
                               const std::string& where) const {
  if (prompt.empty() && !finite_)
    throw gpu::BadInput(where, "the prompt has no token", "give a prompt of at least one token");
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] >= model_->vocabulary_size())
      throw gpu::BadInput(where,
                          "token " + std::to_string(i + 1) + ", " + std::to_string(prompt[i]) +
                              ", is outside the vocabulary",
                          "use numbers below " + std::to_string(model_->vocabulary_size()));
    if (finite_ && finite_->is_terminal(prompt[i]))
      throw gpu::BadInput(where,
                          "token " + std::to_string(i + 1) + " of the prompt is the terminal '" +
                              finite_->vocabulary()[prompt[i]] + "', which nothing can follow",
                          "end the prompt before it");
  }
  if (longest_ != 0 && prompt.size() + horizon > longest_)
    throw gpu::BadInput(where,
                        std::to_string(prompt.size()) + " prompt tokens and a horizon of " +
                            std::to_string(horizon) + " exceed the " + std::to_string(longest_) +
                            " positions of the model",
                        "shorten the prompt or lower the horizon");
}

}  // namespace tempera::lab
