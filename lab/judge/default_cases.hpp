#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tempera::lab {

/// A finite model and a horizon on which a sampler is judged if its user names no model.
struct DefaultCase {
  std::string file;  ///< the path of the model
  std::size_t horizon = 0;
  bool at_any_horizon = false;  ///< whether it is judged too if the user names another horizon
};

/// The cases of toy_models/check/models.json under `tree` for states of this many records, in the
/// order in which they are to be judged: those of the fewest states first. Together they show every
/// kernel of the gallery.
/// @throw BadInput naming the file and the entry, if the list cannot be read
std::vector<DefaultCase> default_cases(const std::string& tree, std::size_t rungs);
/// The same of the text of such a list: `file` is its path, from which those of the models follow.
std::vector<DefaultCase> default_cases_of(const std::string& list, const std::string& file,
                                          std::size_t rungs);

}  // namespace tempera::lab
