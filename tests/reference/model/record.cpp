#include "reference/model/record.hpp"

#include "tests/catch.hpp"

using tempera::reference::Record;

TEST_CASE("a record's terminal position is its length, if it has one") {
  CHECK(Record{{0, 1}, true}.terminal_position() == std::size_t{2});
  CHECK_FALSE(Record{{0, 0}, false}.terminal_position());
  CHECK(Record{{0, 0}, false}.length() == 2);
}
