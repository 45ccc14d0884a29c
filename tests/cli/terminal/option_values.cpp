#include "cli/terminal/option_values.hpp"

#include "base/error.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "tests/law.hpp"

using namespace tempera;
using namespace tempera::cli;

namespace {

template <class Call>
void check_refused(Call&& call, const std::string& message) {
  try {
    call();
    FAIL("taken, and not refused with: " << message);
  } catch (const tempera::BadInput& error) {
    CHECK_THAT(error.what(),
               Catch::StartsWith("--flag: ") && Catch::Contains(message) && Catch::Contains("; "));
  }
}

}  // namespace

TEST_CASE("a whole number is what its digits say, or refused by flag, value and remedy") {
  law("every number is read back", [](std::uint64_t value) {
    RC_ASSERT(parse_whole_number(std::to_string(value), "--flag", {}) == value);
  });
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "010", "00", "1e3", "1.0", "1,2", "x",
                           "\xC2\xB9", "1\n"}) {
    CAPTURE(text);
    check_refused([&] { parse_whole_number(text, "--flag", {}); }, "is not a whole number");
  }
  check_refused([] { parse_whole_number("18446744073709551616", "--flag", {}); },
                "\"18446744073709551616\" is out of range; give a whole number from 0 to "
                "18446744073709551615");
  check_refused([] { parse_whole_number("0", "--flag", {1, 9}); }, "from 1 to 9");
  check_refused([] { parse_whole_number("10", "--flag", {1, 9}); }, "from 1 to 9");
  CHECK(parse_whole_number("0", "--flag", {}) == 0);
  CHECK(parse_whole_number("1", "--flag", {1, 9}) == 1);
  CHECK(parse_whole_number("9", "--flag", {1, 9}) == 9);
}

TEST_CASE("bytes are what their unit says, or refused by flag, value and remedy") {
  const auto units = [](std::size_t base, const char* thousands, const char* end) {
    std::vector<std::pair<std::string, std::size_t>> found;
    std::size_t bytes = base;
    for (const char* letter = thousands; *letter != '\0'; ++letter, bytes *= base)
      found.emplace_back(std::string(1, *letter) + end, bytes);
    return found;
  };
  auto all = units(1024, "KMGT", "iB");
  for (const auto& unit : units(1000, "kMGT", "B")) all.push_back(unit);
  all.emplace_back("B", 1);
  for (const auto& [unit, bytes] : all) {
    CAPTURE(unit);
    CHECK(parse_bytes("1" + unit, "--flag") == bytes);
    CHECK(parse_bytes("3" + unit, "--flag") == 3 * bytes);
    CHECK(parse_bytes("2.5" + unit, "--flag") == bytes * 5 / 2);
    check_refused([&] { parse_bytes("0" + unit, "--flag"); }, "out of range");
  }
  CHECK(parse_bytes("1024TiB", "--flag") == std::size_t{1} << 50);
  check_refused([] { parse_bytes("1024.001TiB", "--flag"); }, "out of range");
  check_refused([] { parse_bytes("0.9B", "--flag"); }, "out of range");
  for (const char* text :
       {"", "1", "GB", "1 GB", "1gb", "1GIB", "1KB", "-1GB", "1e3GB", "1..2GB"}) {
    CAPTURE(text);
    check_refused([&] { parse_bytes(text, "--flag"); }, "is not a number of bytes");
  }
}

TEST_CASE("a power is a decimal in its range, or refused by flag, value and remedy") {
  CHECK(parse_power("2", "--flag") == 2.0);
  CHECK(parse_power("0.75", "--flag") == 0.75);
  CHECK(parse_power("1.60", "--flag") == 1.6);
  CHECK(parse_power("1048576", "--flag") == gpu::largest_power);
  CHECK(parse_power("0.00000095367431640625", "--flag") == gpu::least_power);
  CHECK(parse_power("1e3", "--flag") == 1000.0);
  CHECK(parse_power("2.5E-1", "--flag") == 0.25);
  for (const char* text :
       {"",      "-1", "+1",   "nan", "inf", "1e",    "e3",  "1e+", "1e3.0", "1e0001", "1e3e3",
        "0x1p3", "01", "00.5", ".5",  "1.",  "1.5.2", "1,5", "1 ",  " 1",    "1/2"}) {
    CAPTURE(text);
    check_refused([&] { parse_power(text, "--flag"); }, "is not a power");
  }
  for (const char* text : {"0", "0.0", "1048576.1", "0.0000009", "100000000000000000000"}) {
    CAPTURE(text);
    check_refused([&] { parse_power(text, "--flag"); }, "is out of range");
  }
  check_refused([] { parse_power(std::string(400, '9'), "--flag"); }, "is out of range");
}

TEST_CASE("the value in a refusal is quoted, cut and on one line") {
  check_refused([] { parse_whole_number("1\n\x1B[2J", "--flag", {}); }, "\"1??[2J\" is no");
  try {
    parse_whole_number(std::string(100'000, 'x'), "--flag", {});
  } catch (const tempera::BadInput& error) {
    CHECK(std::string(error.what()).size() < 300);
  }
}

TEST_CASE("flags of numbers take the last value of their range, and refuse the next") {
  double seconds = 0.0;
  std::size_t count = 0;
  std::uint64_t seed = 0;
  std::vector<double> powers;
  std::vector<std::uint64_t> weights;
  std::vector<std::uint32_t> tokens;
  struct Flag {
    std::string name;
    std::function<void(CLI::App&)> add;
    std::vector<std::string> taken;
    std::vector<std::string> refused;
  };
  const std::vector<Flag> flags{
      {"--limit",
       [&](CLI::App& app) { add_seconds(app, "--limit", seconds, "help"); },
       {"0", "0.0", "1e-3", "999999.9999999999", "1000000", "1e6"},
       {"1000000.0000000002", "1e7", "1e999", "-1", "nan", "inf", "1 s", ""}},
      {"--threads",
       [&](CLI::App& app) { add_threads(app, count); },
       {"1", "4096"},
       {"0", "4097", "-1", "1.0", ""}},
      {"--seed",
       [&](CLI::App& app) { add_seed(app, seed, "help"); },
       {"0", "18446744073709551615"},
       {"18446744073709551616", "-1", "1e3", ""}},
      {"--powers",
       [&](CLI::App& app) { add_powers(app, "--powers", powers, "help"); },
       {"1048576", "1,1048576", "0.00000095367431640625"},
       {"1048576.0000000002", "1,", ",1", "1, 2", "0.00000095367431640624", "0", ""}},
      {"--restart-weights",
       [&](CLI::App& app) { add_restart_weights(app, weights); },
       {"0,1", "4294967295,4294967295"},
       {"1", "4294967296,1", "1,4294967296", "1,-1", "1,", ""}},
      {"--tokens",
       [&](CLI::App& app) { add_token_numbers(app, "--tokens", tokens, "help"); },
       {"0", "4294967295", "4294967295,0"},
       {"4294967296", "0,4294967296", "-1", "1,,2", ""}}};
  for (const auto& [name, add, taken, refused] : flags) {
    const auto read = [&](const std::string& value) {
      CLI::App app;
      add(app);
      app.parse(std::vector<std::string>{name + "=" + value});
    };
    for (const std::string& value : taken) {
      CAPTURE(name, value);
      CHECK_NOTHROW(read(value));
    }
    for (const std::string& value : refused) {
      CAPTURE(name, value);
      try {
        read(value);
        FAIL_CHECK("taken");
      } catch (const BadInput& error) {
        CHECK_THAT(error.what(), Catch::StartsWith(name + ": ") && Catch::Contains("; give"));
      } catch (const CLI::Error&) {
        CHECK(value.empty());  // nothing after the sign: CLI11's own refusal
      }
    }
  }
  CLI::App app;
  add_seconds(app, "--limit", seconds, "help");
  app.parse(std::vector<std::string>{"--limit=1000000"});
  CHECK(seconds == 1e6);
}
