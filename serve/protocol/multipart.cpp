#include "serve/protocol/multipart.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/lower_case.hpp"

namespace tempera::serve {
namespace {

constexpr std::size_t most_parts = 16;
constexpr std::size_t longest_boundary = 70;  // RFC 2046
constexpr const char* remedy = "send the file as multipart/form-data, as OpenAI's clients do";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// The value of `key` in a header's value: word; key=value; key="value".
std::optional<std::string> parameter(std::string_view header, std::string_view key) {
  std::size_t at = header.find(';');
  while (at != std::string_view::npos) {
    header.remove_prefix(at + 1);
    const auto equals = header.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name = in_lower_case(trimmed(header.substr(0, equals)));
    header.remove_prefix(equals + 1);
    std::string value;
    if (!header.empty() && header.front() == '"') {
      std::size_t i = 1;
      for (; i < header.size() && header[i] != '"'; ++i) {
        if (header[i] == '\\' && i + 1 < header.size()) ++i;
        value += header[i];
      }
      if (i >= header.size()) return std::nullopt;
      header.remove_prefix(i + 1);
    } else {
      value = std::string(trimmed(header.substr(0, header.find(';'))));
    }
    if (name == key) return value;
    at = header.find(';');
  }
  return std::nullopt;
}

FormPart part_of(std::string_view text) {
  FormPart part;
  const auto end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) throw BadInput("body", "a part has no header", remedy);
  std::string_view headers = text.substr(0, end);
  part.content = text.substr(end + 4);
  bool is_named = false;
  while (!headers.empty()) {
    const auto line_end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, line_end);
    headers.remove_prefix(std::min(line_end + 2, headers.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos ||
        in_lower_case(line.substr(0, colon)) != "content-disposition")
      continue;
    if (const auto name = parameter(line, "name")) {
      part.name = *name;
      is_named = true;
    }
    part.filename = parameter(line, "filename");
  }
  if (!is_named) throw BadInput("body", "a part has no name", remedy);
  return part;
}

}  // namespace

std::vector<FormPart> read_multipart(std::string_view content_type, std::string_view body) {
  const std::string type = in_lower_case(trimmed(content_type.substr(0, content_type.find(';'))));
  const auto boundary = parameter(content_type, "boundary");
  if (type != "multipart/form-data" || !boundary || boundary->empty() ||
      boundary->size() > longest_boundary)
    throw BadInput("Content-Type", "it is not multipart/form-data with a boundary", remedy);
  const std::string delimiter = "\r\n--" + *boundary;
  std::vector<FormPart> parts;
  // The first delimiter may be at the very beginning, without a line end before it.
  if (!body.starts_with(delimiter.substr(2)))
    throw BadInput("body", "it does not begin with the boundary", remedy);
  body.remove_prefix(delimiter.size() - 2);
  for (;;) {
    if (body.starts_with("--")) return parts;
    if (!body.starts_with("\r\n"))
      throw BadInput("body", "a boundary is followed by something else", remedy);
    if (parts.size() == most_parts) throw BadInput("body", "it has more than 16 parts", remedy);
    body.remove_prefix(2);
    const auto end = body.find(delimiter);
    if (end == std::string_view::npos) throw BadInput("body", "its last part has no end", remedy);
    parts.push_back(part_of(body.substr(0, end)));
    body.remove_prefix(end + delimiter.size());
  }
}

}  // namespace tempera::serve
