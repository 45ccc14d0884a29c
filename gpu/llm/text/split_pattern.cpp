#include "gpu/llm/text/split_pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/utf8.hpp"

namespace tempera::gpu {

namespace {

/// Steps of backtracking for one match: tokenizers' patterns need a few per character.
constexpr std::uint32_t most_steps = 1'000'000;

std::string error_text(int error) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(error, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

}  // namespace

struct SplitPattern::Compiled {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;

  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
};

SplitPattern::SplitPattern(const std::string& expression, std::string where)
    : where_(std::move(where)) {
  auto compiled = std::make_shared<Compiled>();
  int error = 0;
  PCRE2_SIZE offset = 0;
  compiled->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  if (compiled->code == nullptr) {
    throw BadInput(where_,
                   "the regular expression fails at byte " + std::to_string(offset) + " (" +
                       error_text(error) + ")",
                   "use a tokenizer whose expression PCRE2 understands");
  }
  compiled->context = pcre2_match_context_create(nullptr);
  if (compiled->context == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(compiled->context, most_steps);
  compiled_ = std::move(compiled);
}

std::vector<SplitPattern::Piece> SplitPattern::split(std::string_view text) const {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr), &pcre2_match_data_free);
  if (match == nullptr) throw std::bad_alloc();
  std::vector<Piece> pieces;
  const auto add = [&](std::size_t begin, std::size_t end, bool is_match) {
    if (begin < end) pieces.push_back({text.substr(begin, end - begin), is_match});
  };
  std::size_t done = 0;
  std::size_t from = 0;
  while (from <= text.size()) {
    const int result =
        pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                    PCRE2_NO_UTF_CHECK, match.get(), compiled_->context);
    if (result == PCRE2_ERROR_NOMATCH) break;
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
    if (result < 0 || bounds[0] < from || bounds[1] < bounds[0]) {
      throw BadInput(where_,
                     "the regular expression fails on this text (" +
                         (result < 0 ? error_text(result) : "a match before its start") + ")",
                     "use a simpler expression or a shorter prompt");
    }
    add(done, bounds[0], false);
    add(bounds[0], bounds[1], true);
    done = bounds[1];
    from = done;
    if (bounds[0] == bounds[1])
      from += std::max<std::size_t>(1, utf8_character_length(text.substr(done)));
  }
  add(done, text.size(), false);
  return pieces;
}

}  // namespace tempera::gpu
