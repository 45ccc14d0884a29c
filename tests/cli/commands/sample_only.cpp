// tempera-sample-only: what a practitioner needs, without lab/, reference/, GMP and MPFR.
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace tempera::sample_only_test {

namespace {

using tempera::test::CommandResult;

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> chunk;
  for (std::size_t read = 0; (read = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    text.append(chunk.data(), read);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

/// The shared libraries that a program names, and the libraries that those name.
std::string libraries_of(const std::string& program) { return output_of("ldd " + program); }

bool needs_exact_numbers(const std::string& program) {
  const std::string libraries = libraries_of(program);
  REQUIRE(libraries.find("libc.so") != std::string::npos);
  return libraries.find("libgmp") != std::string::npos ||
         libraries.find("libmpfr") != std::string::npos;
}

bool has_rooms_above(const std::string& program) {
  const std::string names = output_of("nm -C " + program);
  REQUIRE(names.find("tempera::gpu::") != std::string::npos);
  return names.find("tempera::lab::") != std::string::npos ||
         names.find("tempera::reference::") != std::string::npos;
}

CommandResult sample_only(const std::string& arguments) {
  return tempera::test::run_program(TEMPERA_SAMPLE_ONLY, arguments);
}

const std::string worked_sum = std::string(TEMPERA_SOURCE_DIR) + "/toy_models/worked_sum";

}  // namespace

TEST_CASE("tempera-sample-only links neither GMP nor MPFR, and nothing of lab/ or reference/") {
  CHECK_FALSE(needs_exact_numbers(TEMPERA_SAMPLE_ONLY));
  CHECK_FALSE(has_rooms_above(TEMPERA_SAMPLE_ONLY));
  // The whole command does, which shows that these checks can see it.
  CHECK(needs_exact_numbers(TEMPERA_BINARY));
  CHECK(has_rooms_above(TEMPERA_BINARY));
}

TEST_CASE("tempera-sample-only does what the whole command does, to the same bytes") {
  for (const std::string& arguments :
       {"sample '4+7+9?' --horizon 12 --powers 1,2 --block 6 --rounds 1 --json --model " +
            worked_sum,
        "score --tokens 5,6,7 --powers 1,2 --json --model " + worked_sum,
        "tokens '4+7+9?' --json --model " + worked_sum, std::string("models --json"),
        std::string("presets --json")}) {
    CAPTURE(arguments);
    const CommandResult whole = tempera::test::run_command(arguments);
    const CommandResult small = sample_only(arguments);
    CHECK(whole.exit_code == 0);
    CHECK(small.exit_code == 0);
    CHECK(small.err == whole.err);
    auto said = nlohmann::json::parse(small.out), meant = nlohmann::json::parse(whole.out);
    for (auto* printed : {&said, &meant})
      if (printed->is_object()) printed->erase("seconds");
    CHECK(said == meant);
  }
}

TEST_CASE("tempera-sample-only serves, and says where") {
  // It serves until it is asked to end, which it is once it has said where.
  const tempera::test::TemporaryFolder folder;
  const std::string pipe = (folder / "said").string();
  const std::string said =
      output_of("mkfifo " + pipe + "; " TEMPERA_SAMPLE_ONLY " serve --port 0 --model " +
                worked_sum + " >" + pipe + " 2>&1 & exec 3<" + pipe +
                "; read -r line <&3; kill $!; wait $!; echo \"$line; exit code $?\"");
  CHECK_THAT(said, Catch::Contains("serves worked_sum on http://127.0.0.1:") &&
                       Catch::EndsWith("; exit code 0\n"));
}

TEST_CASE("tempera-sample-only refuses a finite model, and knows no command of the lab") {
  const std::string four = std::string(TEMPERA_SOURCE_DIR) + "/toy_models/four_state.json";
  const CommandResult finite = sample_only("sample a --horizon 2 --powers 1 --model " + four);
  CHECK(tempera::test::is_refusal(finite));
  CHECK_THAT(finite.err, Catch::Contains("four_state.json") && Catch::Contains("use tempera"));
  CHECK(tempera::test::is_refusal(sample_only("verify")));
}

}  // namespace tempera::sample_only_test
