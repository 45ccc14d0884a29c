#include "base/error.hpp"

#include "base/in_quotes.hpp"

namespace tempera {

Error::Error(const std::string& what) : Error(OneLine(), one_line(what)) {}

BadInput::BadInput(const std::string& where, const std::string& what, const std::string& remedy)
    : Error(OneLine(), one_line(where) + ": " + one_line(what) + "; " + one_line(remedy)) {}

}  // namespace tempera
