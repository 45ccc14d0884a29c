#include "reference/bad_input.hpp"

#include "reference/in_quotes.hpp"

namespace tempera::reference {

BadInput::BadInput(const std::string& where, const std::string& what, const std::string& remedy)
    : std::runtime_error(one_line(where) + ": " + one_line(what) + "; " + one_line(remedy)) {}

}  // namespace tempera::reference
