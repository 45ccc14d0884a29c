#include "gpu/llm/text/token_text.hpp"

#include "base/error.hpp"

namespace tempera::gpu {
namespace {

/// Decodes all tokens again with each: for models whose texts are short lists of names.
class DecodedPieces final : public TextPieces {
 public:
  explicit DecodedPieces(const TokenText& text) : text_(text) {}
  std::string push(std::uint32_t token) override {
    tokens_.push_back(token);
    const std::string all = text_.decode(tokens_);
    piece_ = all.substr(given_);
    given_ = all.size();
    return piece_;
  }
  std::string last_bytes() const override { return piece_; }
  std::string finish() override { return ""; }

 private:
  const TokenText& text_;
  std::vector<std::uint32_t> tokens_;
  std::string piece_;
  std::size_t given_ = 0;  // bytes
};

}  // namespace

std::vector<std::uint32_t> TokenText::encode_chat(std::span<const ChatMessage> /*messages*/,
                                                  const ChatArguments& /*arguments*/,
                                                  const std::string& /*where*/) const {
  throw BadInput("--chat", "the model has no tokenizer, and so no conversations", "leave it out");
}

std::unique_ptr<TextPieces> TokenText::pieces() const {
  return std::make_unique<DecodedPieces>(*this);
}

}  // namespace tempera::gpu
