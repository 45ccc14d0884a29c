#include "runs/checksums_of_files.hpp"

#include <fstream>
#include <string>

#include "tests/bad_input.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::checksums_of_files_test {

TEST_CASE("checksums of files that are read together are those of each alone") {
  const test::TemporaryFolder work;
  std::vector<StartOf> starts;
  std::vector<Checksum> alone;
  // More than are open at once; some end inside a piece of 64 KiB, some at its end, some are empty.
  for (const std::size_t size : {0U, 1U, 65536U, 65535U, 200000U, 131072U, 0U, 70000U, 3U}) {
    std::string bytes(size, ' ');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i + starts.size());
    const auto file = work / ("file " + std::to_string(starts.size()));
    std::ofstream(file, std::ios::binary) << bytes << "what comes after is not read";
    starts.push_back({file, size});
    alone.emplace_back().update(bytes);
  }
  CHECK(checksums_of(starts) == alone);
  CHECK(checksums_of({}).empty());
  std::ofstream(starts[4].file, std::ios::binary) << "cut";
  require_bad_input([&] { checksums_of(starts); }, {"file 4: is shorter than its checkpoint says"});
}

}  // namespace tempera::gpu::checksums_of_files_test
