#pragma once

#include <map>
#include <string>

namespace tempera::exact {

/// The finite models that are shipped and the list of those that `tempera check` judges by, as
/// their files have them, by their paths in the tree: a program that links the library needs no
/// tree beside it.
const std::map<std::string, std::string>& embedded_models();

}  // namespace tempera::exact
