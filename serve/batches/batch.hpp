#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::serve {

/// The time of the protocol's fields: seconds since 1970.
std::int64_t now();

/// Something that is wrong with a batch as a whole, or with a line of its input.
struct BatchError {
  std::string message;
  std::size_t line = 0;  ///< from 1; 0 if it is about no line
};

/// A batch of /v1/batches as the protocol describes it.
struct Batch {
  std::string id;
  std::string endpoint = {};  ///< "/v1/completions" or "/v1/chat/completions"
  std::string input_file = {};
  std::string status = "in_progress";  ///< or completed, failed, cancelling, cancelled
  std::string output_file = {};        ///< empty until it is there
  std::string error_file = {};
  std::vector<BatchError> errors = {};
  std::int64_t created = 0;
  std::int64_t ended = 0;  ///< 0 until it is completed, failed or cancelled
  std::size_t total = 0;
  std::size_t completed = 0;
  std::size_t failed = 0;
  nlohmann::ordered_json metadata = nullptr;

  bool is_over() const {
    return status == "completed" || status == "failed" || status == "cancelled";
  }
};
nlohmann::ordered_json to_json(const Batch& batch);

/// The line of a batch that has ended in the access log: one JSON object, without an end.
std::string batch_line(const Batch& batch, std::chrono::system_clock::time_point now);

/// One line of a batch's input.
struct BatchLine {
  std::string custom_id;
  std::string body;  ///< as JSON
};
/// A line of a batch's input that is not blank.
struct InputLine {
  std::string_view text;   ///< refers to the content
  std::size_t number = 0;  ///< in the file, from 1; blank lines count
};

/// Reads a line: {"custom_id", "method": "POST", "url": endpoint, "body": {…}}.
/// @throw BadInput naming the line by its number in the file, and what is wrong
BatchLine read_batch_line(const InputLine& line, const std::string& endpoint);

/// The lines of a batch's input that are not blank.
std::vector<InputLine> lines_of(std::string_view content);

/// What is wrong with a batch's input as a whole: nothing in it, too many lines, a line that is
/// none, a custom_id that occurs twice. At most 20 errors.
std::vector<BatchError> errors_in(std::string_view content, const std::string& endpoint);

}  // namespace tempera::serve
