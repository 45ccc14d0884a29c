#include "base/mapped_file.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/bad_input.hpp"
#include "tests/temporary_file.hpp"

namespace tempera {

TEST_CASE("what is forgotten of a mapped file is read from it again", "[mapped]") {
  std::string expected(20000, '\0');
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<char>(i % 251);
  const test::TemporaryFile written(expected);
  const MappedFile file(written.path());
  const auto bytes = file.bytes();
  const auto is_as_before = [&] {
    return std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end(),
                      [](std::byte a, char b) { return a == static_cast<std::byte>(b); });
  };
  REQUIRE(is_as_before());
  file.forget(bytes);
  CHECK(is_as_before());
  file.forget(bytes.subspan(5000, 9000));
  CHECK(is_as_before());
  file.forget(bytes.last(1));
  CHECK(is_as_before());
  file.forget({});
  // Memory of somebody else is left alone.
  std::vector<std::byte> other(1 << 16, std::byte{7});
  file.forget(other);
  CHECK(other == std::vector<std::byte>(1 << 16, std::byte{7}));
}

}  // namespace tempera
