#include "cli/commands/shipped_tree.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "base/regular_file.hpp"

namespace tempera::cli {

std::string shipped_tree(const std::string& named) {
  if (!named.empty()) {
    require_no_special_file(named, "folder");
    return named;
  }
  if (const char* variable = std::getenv("TEMPERA_MODELS")) {
    if (*variable == '\0')
      throw BadInput("TEMPERA_MODELS", "\"\" is empty",
                     "name a folder with toy_models/ and proofs/, or unset it");
    return variable;
  }
  std::error_code error;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto installed = command.parent_path().parent_path() / "share" / "tempera";
  if (!error && std::filesystem::is_directory(installed / "toy_models", error))
    return installed.string();
  return TEMPERA_SOURCE_DIR;
}

void offer_python_package() {
  const auto folder = std::filesystem::path(shipped_tree("")) / "python";
  std::error_code error;
  if (!std::filesystem::is_directory(folder / "tempera", error)) return;
  const char* others = std::getenv("PYTHONPATH");
  const std::string first = others != nullptr && *others != '\0' ? others + std::string(":") : "";
  setenv("PYTHONPATH", (first + folder.string()).c_str(), 1);
}

}  // namespace tempera::cli
