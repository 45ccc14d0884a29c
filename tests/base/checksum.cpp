#include "base/checksum.hpp"

#include <array>
#include <string>
#include <vector>

#include "tests/law.hpp"

namespace tempera::checksum_test {

TEST_CASE("a checksum is FNV-1a of 64 bits") {
  // These are published test vectors of FNV-1a.
  const auto of = [](std::string_view bytes) {
    Checksum checksum;
    checksum.update(bytes);
    return hexadecimal(checksum);
  };
  CHECK(of("") == "cbf29ce484222325");
  CHECK(of("a") == "af63dc4c8601ec8c");
  CHECK(of("foobar") == "85944171f73967e8");
  CHECK(of("\xff") != of("\x7f"));
}

TEST_CASE("checksums that are taken together are those of each alone") {
  law("of any number of pieces of any lengths", [] {
    const auto texts = *rc::gen::container<std::vector<std::string>>(
        rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
    const auto begun = *rc::gen::container<std::vector<std::uint64_t>>(
        texts.size(), rc::gen::arbitrary<std::uint64_t>());
    std::vector<Checksum> alone;
    for (std::size_t i = 0; i < texts.size(); ++i) alone.emplace_back(begun[i]).update(texts[i]);
    std::vector<Checksum> together(begun.begin(), begun.end());
    std::vector<ChecksumPiece> pieces;
    for (std::size_t i = 0; i < texts.size(); ++i) pieces.push_back({&together[i], texts[i]});
    update_together(pieces);
    RC_ASSERT(together == alone);
  });
  // Planted: a lane that takes another lane's bytes is seen.
  std::array<Checksum, 2> swapped;
  const std::array<ChecksumPiece, 2> crossed{{{&swapped[0], "second"}, {&swapped[1], "first"}}};
  update_together(crossed);
  Checksum first;
  first.update("first");
  CHECK_FALSE(swapped[0] == first);
  CHECK(swapped[1] == first);
}

}  // namespace tempera::checksum_test
