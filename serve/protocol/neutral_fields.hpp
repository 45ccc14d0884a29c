#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_document.hpp"

namespace tempera::serve {

/// An object of the protocol that has fields.
enum class Holder : unsigned {
  completion = 1,       ///< the body of POST /v1/completions
  chat = 2,             ///< the body of POST /v1/chat/completions
  stream_options = 4,   ///< "stream_options" of either
  message = 8,          ///< an entry of "messages"
  batch = 16,           ///< the body of POST /v1/batches
  file = 32,            ///< the form of POST /v1/files
  tempera = 64,         ///< "tempera" of a completion or a chat
  part = 128,           ///< a part of a message's "content"
  tokenize_text = 256,  ///< the body of POST /tokenize with a text
  tokenize_chat = 512,  ///< the body of POST /tokenize with a conversation
  detokenize = 1024,    ///< the body of POST /detokenize
  response = 2048,      ///< the body of POST /v1/responses
  input_item = 4096,    ///< an entry of its "input"
};

/// Which values of a field leave the answer as it is. null always does.
enum class Neutral : unsigned char {
  none,        ///< no other value
  listed,      ///< those of NeutralField::values
  any_text,    ///< every string
  any_flag,    ///< true and false
  any_object,  ///< every object
  any_number,  ///< every number
  any_list,    ///< every list
  empty_list,  ///< []
  empty,       ///< {} and []
  zeros,       ///< an object whose members are all 0, {} or []
  as_n,        ///< the number "n" of the same object, which is 1 where there is none
};

/// A field that clients send and that this server does not act on in this place: values that change
/// nothing are taken, any other value is refused.
struct NeutralField {
  std::string_view key;
  unsigned holders = 0;  ///< the sum of Holder values
  Neutral neutral = Neutral::none;
  std::string_view values;   ///< of Neutral::listed: a JSON list
  std::string_view why;      ///< why another value is refused
  std::string_view instead;  ///< and what the client can do
};

/// The table of all such fields. GET /openapi.json describes them from it.
std::span<const NeutralField> neutral_fields();

/// Checks the fields of an object: each is null, one of `known`, which the server acts on, or a
/// neutral field of `holder` at a neutral value.
/// @param place  the path before a field's name in errors, such as "stream_options."; may be empty
/// @throw BadInput naming the field: for an unknown one, with the nearest name, and for a value
/// that would change the answer, with the reason and what to use
void check_fields(const JsonObject& object, Holder holder, std::span<const std::string_view> known,
                  const std::string& place = {});
/// The same for names in two lists.
void check_fields(const JsonObject& object, Holder holder,
                  std::initializer_list<std::string_view> known,
                  std::initializer_list<std::string_view> further = {},
                  const std::string& place = {});

/// True if two values of JSON are the same. The comparison of nlohmann's library takes 2^64 - 1 for
/// -1, as a conversion of C++ would.
bool is_same(const nlohmann::json& value, const nlohmann::json& other);

/// The fields of "tempera".
std::vector<std::string_view> tempera_keys();

/// Checks the name of a part of a form, as check_fields does a field: NAME or NAME[KEY].
void check_part(const std::string& name, Holder holder,
                std::initializer_list<std::string_view> known);

/// The JSON Schema of a field: its neutral values, and null.
nlohmann::ordered_json schema_of(const NeutralField& field);

}  // namespace tempera::serve
