#include "lab/enumerate/finite_model_file.hpp"

#include <sstream>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::lab {
namespace {

class NameText final : public gpu::TokenText {
 public:
  NameText(std::string path, reference::FiniteModel model)
      : path_(std::move(path)), model_(std::move(model)) {}
  std::vector<gpu::TokenId> encode(std::string_view text, const std::string& where) const override {
    std::vector<gpu::TokenId> tokens;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      const auto token = model_.find_token(word);
      if (!token)
        throw BadInput(where, in_quotes(word) + " is not a token of " + path_,
                       "use the tokens of its vocabulary, separated by spaces");
      tokens.push_back(*token);
    }
    return tokens;
  }
  std::string decode(std::span<const gpu::TokenId> tokens) const override {
    std::string text;
    for (const gpu::TokenId token : tokens)
      text += (text.empty() ? "" : " ") + model_.vocabulary()[token];
    return text;
  }

 private:
  std::string path_;
  reference::FiniteModel model_;
};

}  // namespace

gpu::OpenedModel::Parts open_finite_model(const std::string& path) {
  auto model = reference::load_finite_model(path);
  gpu::OpenedModel::Parts parts;
  parts.model = finite_table(model);
  parts.terminal = terminal_tokens(model);
  parts.text = std::make_unique<NameText>(path, std::move(model));
  parts.accepts_empty_prompt = true;
  parts.undefined_after_terminal = true;
  return parts;
}

}  // namespace tempera::lab
