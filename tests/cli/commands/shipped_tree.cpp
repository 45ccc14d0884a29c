#include "cli/commands/shipped_tree.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using namespace tempera::test;

namespace {

/// A tree whose one model is called `name`.
void make_tree(const std::filesystem::path& tree, const std::string& name) {
  std::filesystem::create_directories(tree / "toy_models");
  std::filesystem::copy_file(TEMPERA_SOURCE_DIR "/toy_models/four_state.json",
                             tree / "toy_models" / name);
  std::ofstream(tree / "toy_models/models.json")
      << R"([{"file": ")" << name << R"(", "horizon": 2, "power": 2, "powers": [2]}])";
}

/// Runs `law` as this shell command, with TEMPERA_MODELS set to `models`, unless that is empty.
std::string law_of(const std::string& command, const std::string& models,
                   const std::string& arguments = "") {
  const TemporaryFile out("");
  if (models.empty())
    unsetenv("TEMPERA_MODELS");
  else
    setenv("TEMPERA_MODELS", models.c_str(), 1);
  const int status =
      std::system(("cd / && " + command + " law " + arguments + " >" + out.path()).c_str());
  unsetenv("TEMPERA_MODELS");
  CHECK(WEXITSTATUS(status) == 0);
  return bytes_of(out.path());
}

}  // namespace

TEST_CASE("the models are those of --tree, of TEMPERA_MODELS, of share/ or of the source tree") {
  const TemporaryFolder folder;
  make_tree(folder / "flag", "of_flag.json");
  make_tree(folder / "variable", "of_variable.json");
  make_tree(folder / "prefix/share/tempera", "of_share.json");
  std::filesystem::create_directories(folder / "prefix/bin");
  std::filesystem::copy_file(TEMPERA_BINARY, folder / "prefix/bin/tempera");
  std::filesystem::create_symlink(folder / "prefix/bin/tempera", folder / "link");
  const std::string installed = (folder / "prefix/bin/tempera").string();
  const std::string variable = (folder / "variable").string();
  const std::string flag = "--tree " + (folder / "flag").string();
  for (const std::string& command : {std::string(TEMPERA_BINARY), installed}) {
    CAPTURE(command);
    CHECK_THAT(law_of(command, variable, flag),
               Catch::Contains("of_flag.json") && Catch::Contains((folder / "flag").string()));
    CHECK_THAT(law_of(command, variable),
               Catch::Contains("of_variable.json") && Catch::Contains(variable));
  }
  // Through a link too: the command looks where it is itself.
  for (const std::string& command : {installed, (folder / "link").string()})
    CHECK_THAT(law_of(command, ""),
               Catch::Contains("of_share.json") &&
                   Catch::Contains((folder / "prefix/share/tempera/toy_models").string()));
  CHECK_THAT(run_command_once("law.json", "law --json").out,
             Catch::Contains("\"folder\":\"" TEMPERA_SOURCE_DIR "/toy_models\""));
}

TEST_CASE("a TEMPERA_MODELS that holds none is refused, and not passed over") {
  setenv("TEMPERA_MODELS", "/nowhere", 1);
  check_refusal("law", "/nowhere/toy_models/models.json: cannot be read");
  check_refusal("verify", "/nowhere/proofs/claims.json: cannot be read");
  setenv("TEMPERA_MODELS", "", 1);
  check_refusal("law", "TEMPERA_MODELS: \"\" is empty");
  unsetenv("TEMPERA_MODELS");
}
