#include "base/error.hpp"

#include "base/in_quotes.hpp"

namespace tempera {

BadInput::BadInput(const std::string& where, const std::string& what, const std::string& remedy)
    : std::runtime_error(one_line(where) + ": " + one_line(what) + "; " + one_line(remedy)) {}

}  // namespace tempera
