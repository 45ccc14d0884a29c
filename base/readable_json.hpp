#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tempera {

/// JSON for people: a member or entry a line, indented by one; a list, and an object in a list, of
/// nothing but plain values on one line.
std::string readable_json(const nlohmann::ordered_json& json);

}  // namespace tempera
