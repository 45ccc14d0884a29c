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

/// A member of the object that a text spells, whose own members keep their order; null if it is not
/// there. Nothing else of the text is kept.
/// @pre parse_json_text takes the text
/// @throw BadInput naming the member if an object in it has more than 1,024 members
nlohmann::ordered_json parse_ordered_member(std::string_view text, const std::string& member);

}  // namespace tempera
