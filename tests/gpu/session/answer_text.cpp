#include "gpu/session/answer_text.hpp"

#include "base/utf8.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/heard.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {
namespace {

/// The text that ends where the first stop string is complete, by looking at every beginning.
std::pair<std::string, std::size_t> cut(const std::string& text,
                                        const std::vector<std::string>& stop) {
  for (std::size_t n = 1; n <= text.size(); ++n) {
    const std::string beginning = text.substr(0, n);
    std::size_t first = std::string::npos;
    for (const std::string& one : stop)
      if (beginning.ends_with(one)) first = std::min(first, n - one.size());
    if (first != std::string::npos) return {text.substr(0, first), n};
  }
  return {text, text.size()};
}

/// Each token is a byte.
class BytesText final : public TokenText {
 public:
  class Pieces final : public TextPieces {
   public:
    std::string push(TokenId token) override {
      last_ = std::string(1, static_cast<char>(token));
      pending_ += last_;
      const std::size_t whole = pending_.size() - unfinished_utf8(pending_);
      const std::string given = replace_invalid_utf8(pending_.substr(0, whole));
      pending_.erase(0, whole);
      return given;
    }
    std::string last_bytes() const override { return last_; }
    std::string finish() override { return replace_invalid_utf8(std::exchange(pending_, "")); }

   private:
    std::string pending_;
    std::string last_;
  };
  std::vector<TokenId> encode(std::string_view, const std::string&) const override { return {}; }
  std::string decode(std::span<const TokenId> tokens) const override {
    return replace_invalid_utf8(std::string(tokens.begin(), tokens.end()));
  }
  std::unique_ptr<TextPieces> pieces() const override { return std::make_unique<Pieces>(); }
};

}  // namespace

TEST_CASE("a text ends before its first stop string, and nothing that was given is taken back",
          "[session]") {
  law("any letters, any stop strings", [] {
    const auto letter = rc::gen::inRange('a', 'd');
    const auto text = *rc::gen::container<std::string>(letter);
    const auto stop = *rc::gen::container<std::vector<std::string>>(
        rc::gen::nonEmpty(rc::gen::container<std::string>(letter)));
    AnswerText reader(&letters, stop);
    std::string given;
    for (const char c : text) {
      given += reader.push(static_cast<TokenId>(c - 'a'));
      if (reader.stopped()) break;
    }
    const bool stopped = reader.stopped();
    given += reader.finish();
    const auto [expected, tokens] = cut(text, stop);
    RC_ASSERT(given == expected);
    RC_ASSERT(reader.given() == expected);
    RC_ASSERT(reader.tokens() == tokens);
    RC_ASSERT(stopped == (expected.size() < text.size()));
  });
}

// The rest of a character at the end is U+FFFD, which a stop string may have, too.
TEST_CASE("a stop string is found wherever it is in the whole text, also at its end", "[session]") {
  law("any bytes", [] {
    const BytesText text;
    const auto bytes = *rc::gen::container<std::vector<TokenId>>(
        rc::gen::element<TokenId>('a', 'b', 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xFF));
    const std::vector<std::string> stop{*rc::gen::element<std::string>(
        "b", "ab", "\xC3\xA9", "\xE2\x82\xAC", "\xEF\xBF\xBD", "a\xEF\xBF\xBD",
        "\xEF\xBF\xBD\xEF\xBF\xBD", "\xC3\xA9\xEF\xBF\xBD")};
    AnswerText reader(&text, stop);
    std::string given;
    for (const TokenId byte : bytes)
      if (!reader.stopped()) given += reader.push(byte);
    given += reader.finish();
    const std::string whole = text.decode(bytes);
    const std::string expected = whole.substr(0, whole.find(stop.front()));
    RC_ASSERT(given == expected);
    RC_ASSERT(reader.given() == expected);
    RC_ASSERT(reader.stopped() == (expected.size() < whole.size()));
    Answer answer;
    answer.tokens = bytes;
    RC_ASSERT(text_of(answer, text, stop) == expected);
  });
}

TEST_CASE("without a text nothing is given", "[session]") {
  const std::vector<std::string> none;
  AnswerText reader(nullptr, none);
  CHECK(reader.push(3).empty());
  CHECK(reader.finish().empty());
  CHECK(reader.tokens() == 1);
}

TEST_CASE("a stop string cuts the answer of every sampler, and ends a tokenwise one", "[session]") {
  TableModel model = scattered_table(7, 3);
  std::size_t stopped = 0;
  for (std::size_t which = 0; which < 60; ++which) {
    CAPTURE(which);
    SampleRequest asked = varied_request(which);
    asked.samples = 1;
    Session session(model, {}, &letters);
    Heard whole;
    const RequestId first = session.submit(asked, whole);
    asked.stop = {"cd", "ec", "gg", "f"};
    Heard heard;
    const RequestId second = session.submit(asked, heard);
    while (session.step()) {
    }
    const Answer& uncut = whole.answer(first, asked.first_sample);
    const Answer& answer = heard.answer(second, asked.first_sample);
    const auto [text, tokens] = cut(uncut.text, asked.stop);
    CHECK(answer.text == text);
    CHECK(answer.stopped == (text != uncut.text));
    const bool is_tokenwise = asked.sampler == tokenwise_sampling;
    const Heard::Sample& told = heard.samples.at({second, asked.first_sample});
    CHECK(told.streamed_text == (is_tokenwise ? text : ""));
    CHECK(whole.samples.at({first, asked.first_sample}).streamed_text ==
          (is_tokenwise ? uncut.text : ""));
    if (!answer.stopped) {
      CHECK(answer.tokens == uncut.tokens);
      CHECK(answer.log_p0 == uncut.log_p0);
      CHECK(answer.terminated == uncut.terminated);
      continue;
    }
    ++stopped;
    CHECK_FALSE(answer.terminated);
    CHECK_FALSE(answer.is_cut());
    CHECK(answer.tokens ==
          std::vector<TokenId>(uncut.tokens.begin(),
                               uncut.tokens.begin() + static_cast<std::ptrdiff_t>(tokens)));
    CHECK(answer.log_p0 >= uncut.log_p0);
    if (is_tokenwise) {
      CHECK(told.streamed == answer.tokens);
      CHECK(answer.log_p0_of_records == std::vector<double>{answer.log_p0});
    } else {
      CHECK(answer.log_p0_of_records == uncut.log_p0_of_records);
    }
  }
  CHECK(stopped > 10);
}

}  // namespace tempera::gpu
