#include "base/error.hpp"

#include "tests/catch.hpp"

namespace tempera {

TEST_CASE("a message is one short line, whatever text of the user's is in it", "[bad_input]") {
  const std::string message =
      BadInput("file\n\x1B[2J\xC2\x9B", "\"a\\b\" is\rwrong\x7F", "mend\tit \xE2\x80\xA8\xFF")
          .what();
  CHECK(message == "file??[2J?: \"a\\b\" is?wrong?; mend?it ?\xEF\xBF\xBD");
  const std::string longest =
      BadInput(std::string(100'000, 'w'), std::string(100'000, '\n'), std::string(100'000, '\xFF'))
          .what();
  CHECK(longest.size() < 1300);
  CHECK(longest.find('\n') == std::string::npos);
}

TEST_CASE("a cut does not split a character", "[bad_input]") {
  std::string text = "x";
  for (int i = 0; i < 300; ++i) text += "\xCE\xB1";
  const std::string message = BadInput(text, "is wrong", "mend it").what();
  CHECK(message.find("\xEF\xBF\xBD") == std::string::npos);
  CHECK(message.find("...: is wrong") != std::string::npos);
}

TEST_CASE("every error of tempera is one line and of one family", "[error]") {
  for (const Error& error : std::initializer_list<Error>{ModelError("a\nb"), DeviceError("a\nb"),
                                                         Bug("a\nb"), BadInput("a\nb", "c", "d")})
    CHECK(std::string(error.what()).starts_with("a?b"));
  CHECK_THROWS_AS(throw ModelError("x"), Error);
  CHECK_THROWS_AS(throw BadInput("x", "y", "z"), Error);
}

}  // namespace tempera
