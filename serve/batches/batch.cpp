#include "serve/batches/batch.hpp"

#include <algorithm>
#include <ctime>
#include <set>

#include "base/error.hpp"
#include "base/held_json.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/json_text.hpp"
#include "serve/protocol/access_line.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/json_response.hpp"

namespace tempera::serve {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_lines = 50000;
constexpr std::size_t most_errors = 20;
/// Batches of this server do not expire; the protocol wants a time.
constexpr std::int64_t window_seconds = 86400;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

}  // namespace

std::int64_t now() { return static_cast<std::int64_t>(std::time(nullptr)); }

ordered_json to_json(const Batch& batch) {
  ordered_json errors = nullptr;
  if (!batch.errors.empty()) {
    errors = {{"object", "list"}, {"data", ordered_json::array()}};
    for (const BatchError& error : batch.errors)
      errors["data"].push_back(
          {{"code", "invalid_request"},
           {"message", error.message},
           {"param", text_or_null(field_of(error.message))},
           {"line", error.line == 0 ? ordered_json(nullptr) : ordered_json(error.line)}});
  }
  const auto ended_as = [&](const char* status) {
    return batch.status == status ? ordered_json(batch.ended) : ordered_json(nullptr);
  };
  return {{"id", batch.id},
          {"object", "batch"},
          {"endpoint", batch.endpoint},
          {"errors", std::move(errors)},
          {"input_file_id", batch.input_file},
          {"completion_window", "24h"},
          {"status", batch.status},
          {"output_file_id", text_or_null(batch.output_file)},
          {"error_file_id", text_or_null(batch.error_file)},
          {"created_at", batch.created},
          {"in_progress_at",
           batch.status == "failed" ? ordered_json(nullptr) : ordered_json(batch.created)},
          {"expires_at", batch.created + window_seconds},
          {"finalizing_at", ended_as("completed")},
          {"completed_at", ended_as("completed")},
          {"failed_at", ended_as("failed")},
          {"expired_at", nullptr},
          {"cancelling_at", ended_as("cancelled")},
          {"cancelled_at", ended_as("cancelled")},
          {"request_counts",
           {{"total", batch.total}, {"completed", batch.completed}, {"failed", batch.failed}}},
          {"metadata", batch.metadata}};
}

std::string batch_line(const Batch& batch, std::chrono::system_clock::time_point now) {
  return spelled({{"time", log_time(now)},
                  {"batch", batch.id},
                  {"endpoint", batch.endpoint},
                  {"status", batch.status},
                  {"lines", batch.total},
                  {"completed", batch.completed},
                  {"failed", batch.failed},
                  {"seconds", batch.ended - batch.created}});
}

BatchLine read_batch_line(const InputLine& line, const std::string& endpoint) {
  const std::string where = "line " + std::to_string(line.number);
  const HeldJson parsed =
      parse_json_text(line.text, where, "write one JSON object, whole, on each line");
  const JsonObject object(
      *parsed, where,
      R"({"custom_id": "…", "method": "POST", "url": ")" + endpoint + R"(", "body": {…}})");
  object.check_keys({"custom_id", "method", "url", "body"});
  if (object.text("method") != "POST")
    throw BadInput(where + ", method", in_quotes(object.text("method")) + " is not POST",
                   "give \"POST\"");
  if (object.text("url") != endpoint)
    throw BadInput(where + ", url", in_quotes(object.text("url")) + " is not the batch's endpoint",
                   "give \"" + endpoint + "\"");
  object.object("body");
  return {object.text("custom_id"), object.at("body").dump()};
}

std::vector<InputLine> lines_of(std::string_view content) {
  std::vector<InputLine> lines;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const auto end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) lines.push_back({line, number});
  }
  return lines;
}

std::vector<BatchError> errors_in(std::string_view content, const std::string& endpoint) {
  const auto lines = lines_of(content);
  if (lines.empty()) return {{.message = "the input file has no line"}};
  if (lines.size() > most_lines)
    return {{.message = "the input file has " + std::to_string(lines.size()) +
                        " lines; give at most " + std::to_string(most_lines)}};
  std::vector<BatchError> errors;
  std::set<std::string> ids;
  for (const InputLine& input : lines) {
    if (errors.size() == most_errors) break;
    try {
      const BatchLine line = read_batch_line(input, endpoint);
      if (!ids.insert(line.custom_id).second)
        throw BadInput("line " + std::to_string(input.number) + ", custom_id",
                       in_quotes(line.custom_id) + " occurs twice", "give each line its own");
    } catch (const BadInput& error) {
      errors.push_back({.message = error.what(), .line = input.number});
    }
  }
  return errors;
}

}  // namespace tempera::serve
