#include "serve/protocol/access_line.hpp"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "serve/protocol/json_response.hpp"

namespace tempera::serve {
namespace {

using nlohmann::ordered_json;

/// A text of a client, which may not fill the log by itself.
ordered_json text_of_client(std::string_view text) {
  constexpr std::size_t most = 256;
  return text.empty() ? ordered_json(nullptr) : ordered_json(std::string(text.substr(0, most)));
}

ordered_json milliseconds(const std::optional<std::chrono::duration<double>>& time) {
  if (!time) return nullptr;
  return std::round(time->count() * 1e6) / 1e3;
}

}  // namespace

std::string log_time(std::chrono::system_clock::time_point now) {
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(since / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[40];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text + size, sizeof text - size, ".%03dZ", static_cast<int>(since % 1000));
  return text;
}

std::string access_line(const EndedRequest& ended, const std::optional<std::string>& client,
                        std::chrono::system_clock::time_point now) {
  ordered_json line{
      {"time", log_time(now)},
      {"request", ended.request.id},
      {"client", client ? ordered_json(*client) : ordered_json(nullptr)},
      {"method", text_of_client(ended.request.method)},
      {"path", text_of_client(ended.request.path)},
      {"status", ended.status == 0 ? ordered_json(nullptr) : ordered_json(ended.status)},
      {"left", !ended.is_sent},
      {"answer", nullptr},
      {"prompt_tokens", nullptr},
      {"answer_tokens", nullptr},
      {"decode_tokens", nullptr},
      {"first_token_ms", milliseconds(ended.first_text)},
      {"ms", milliseconds(ended.whole)}};
  if (const auto& facts = ended.facts) {
    line["answer"] = facts->id;
    line["prompt_tokens"] = facts->prompt_tokens;
    line["answer_tokens"] = facts->answer_tokens;
    line["decode_tokens"] = facts->decode_tokens;
  }
  if (!ended.prompts.empty()) line["prompts"] = ended.prompts;
  return spelled(line);
}

}  // namespace tempera::serve
