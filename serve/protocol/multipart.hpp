#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::serve {

/// One part of a multipart/form-data body; its content refers to the body.
struct FormPart {
  std::string name;
  std::optional<std::string> filename = {};
  std::string_view content = {};
};

/// Reads a body of the type multipart/form-data (RFC 7578), which must outlive the parts.
/// @throw BadInput if the content type is another one or has no boundary, if a part has no name or
/// no end, and for more than 16 parts
std::vector<FormPart> read_multipart(std::string_view content_type, std::string_view body);

}  // namespace tempera::serve
