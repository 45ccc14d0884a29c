#pragma once

namespace tempera::serve {

/// Which path a request for text was sent to: its body and its answer have a form of their own.
enum class BodyForm : unsigned char {
  completion,  ///< POST /v1/completions
  chat,        ///< POST /v1/chat/completions
  response,    ///< POST /v1/responses
};

}  // namespace tempera::serve
