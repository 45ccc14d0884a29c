#include "serve/protocol/request_body.hpp"

#include "base/error.hpp"
#include "base/json_text.hpp"

namespace tempera::serve {

HeldJson parse_body(std::string_view text) {
  const char* remedy = "send one JSON object, as a JSON library writes it";
  HeldJson body = parse_json_text(text, "body", remedy);
  if (!body->is_object()) throw BadInput("body", "is not a JSON object", remedy);
  return body;
}

}  // namespace tempera::serve
