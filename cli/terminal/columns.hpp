#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tempera::cli {

/// The widest line of a table.
inline constexpr std::size_t table_columns = 100;

/// How many columns of a terminal a text takes.
std::size_t columns_of(std::string_view text);

/// The text in at most `columns` columns, its end replaced by "..." if it is cut; control
/// characters are replaced by '?', ill-formed UTF-8 by U+FFFD.
std::string fitted(std::string_view text, std::size_t columns);

/// JSON with a space after every comma between its parts, so that a long one can be wrapped.
std::string spaced_json(const std::string& json);

/// The shortest decimal that reads back as this number: "1.6", "1048576".
std::string decimal_of(double value);

/// The same of each, in a row: "1,1.6,2.5".
std::string decimals_of(const std::vector<double>& values);

}  // namespace tempera::cli
