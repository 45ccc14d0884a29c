#include "gpu/session/answer_text.hpp"

#include <algorithm>
#include <string_view>

namespace tempera::gpu {

AnswerText::AnswerText(const TokenText* text, const std::vector<std::string>& stop)
    : stop_(stop), pieces_(text == nullptr ? nullptr : text->pieces()) {}

std::string AnswerText::push(std::uint32_t token) {
  ++tokens_;
  if (!pieces_) return "";
  pending_ += pieces_->push(token);
  if (stop_in_pending()) return take(pending_.size());
  return take(certain_bytes());
}

std::string AnswerText::finish() {
  if (!pieces_ || is_stopped_) return "";
  pending_ += pieces_->finish();
  stop_in_pending();
  return take(pending_.size());
}

std::string AnswerText::take(std::size_t bytes) {
  std::string taken = pending_.substr(0, bytes);
  pending_.erase(0, bytes);
  given_ += taken;
  return taken;
}

/// Cuts what is pending before the first stop string in it, if there is one.
bool AnswerText::stop_in_pending() {
  std::size_t first = std::string::npos;
  for (const std::string& stop : stop_) first = std::min(first, pending_.find(stop));
  if (first == std::string::npos) return false;
  pending_.resize(first);
  is_stopped_ = true;
  return true;
}

/// How much of what is pending no stop string can begin in.
std::size_t AnswerText::certain_bytes() const {
  const std::string_view pending = pending_;
  for (std::size_t begin = 0; begin < pending.size(); ++begin)
    if (std::any_of(stop_.begin(), stop_.end(), [&](const std::string& stop) {
          return std::string_view(stop).starts_with(pending.substr(begin));
        }))
      return begin;
  return pending.size();
}

std::string text_of(const Answer& answer, const TokenText& text,
                    const std::vector<std::string>& stop) {
  std::span<const TokenId> shown = answer.tokens;
  if (answer.terminated) shown = shown.first(shown.size() - 1);
  if (stop.empty()) return text.decode(shown);
  AnswerText reader(&text, stop);
  for (const TokenId token : shown)
    if (!reader.stopped()) reader.push(token);
  reader.finish();
  return reader.given();
}

}  // namespace tempera::gpu
