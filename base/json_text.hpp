#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace tempera {

/// The JSON value of a text that is not a file's: as parse_json, with the remedy for a text that is
/// not valid.
/// @throw BadInput as parse_json
nlohmann::json parse_json_text(std::string_view text, const std::string& where,
                               const std::string& remedy);

}  // namespace tempera
