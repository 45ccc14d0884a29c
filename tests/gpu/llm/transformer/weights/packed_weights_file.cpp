#include "gpu/llm/transformer/weights/packed_weights_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"
#include "tests/open_handles.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::packed_weights_file_test {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// What was said, and nothing else.
struct Heard {
  std::string text;
  PackedWeightsFile::Say say = [this](const std::string& line) { text += line + '\n'; };
};

/// A matrix of 19 outputs of 512 inputs.
struct Given {
  std::string dtype;
  Arithmetic arithmetic;
  std::vector<std::byte> bytes;

  Given(const std::string& type, Arithmetic chosen) : dtype(type), arithmetic(chosen) {
    constexpr std::size_t elements = std::size_t{19} * 512;
    if (type == "BF16") {
      // Those of F16 are as finite as bfloat16s.
      bytes = quantised_bytes(quantised_type("F16"), elements, 7);
    } else if (type == "F32" || type == "MXFP4") {
      bytes.resize(elements / stored_block(type)->elements * stored_block(type)->bytes);
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i * 37 & 0x3F);
    } else {
      bytes = quantised_bytes(quantised_type(type), elements, 7);
    }
  }
  PackedMatrix packed() const {
    const StoredTensor tensor{"given", dtype, {19, 512}, bytes, "given"};
    const StoredTensor* const pointer = &tensor;
    return pack_matrices({&pointer, 1}, arithmetic);
  }
};

/// All that kernels read of a matrix, byte for byte.
std::string bytes_of_view(const PackedMatrix& matrix) {
  const MatrixView view = matrix.view();
  const std::uint64_t blocks =
      view.blocks == nullptr ? 0 : view.out / lanes * sizeof(std::uint64_t);
  const std::uint64_t weights = work_of(matrix).bytes - blocks;
  std::string text;
  for (const void* begin :
       {static_cast<const void*>(view.float32), static_cast<const void*>(view.bfloat16),
        static_cast<const void*>(view.fragments), static_cast<const void*>(view.quantised),
        static_cast<const void*>(view.pairs)}) {
    text += begin == nullptr ? "-" : "+";
    if (begin != nullptr) text.append(static_cast<const char*>(begin), weights);
  }
  if (view.blocks != nullptr) text.append(reinterpret_cast<const char*>(view.blocks), blocks);
  return text + std::to_string(view.in) + " " + std::to_string(view.out);
}

/// Makes a file of two matrices, or takes them from it.
std::pair<std::string, std::uint64_t> made_or_taken(const fs::path& file,
                                                    const PackedWeightsFile::Say& say,
                                                    Disk& disk = Disk::real()) {
  const auto weights =
      PackedWeightsFile::open_or_make(file, "key", say, std::chrono::minutes(1), disk);
  std::string bytes;
  for (const char* dtype : {"BF16", "Q4_K"}) {
    const Given given(dtype, Arithmetic::float32);
    bytes += bytes_of_view(weights->matrix(dtype, [&] { return given.packed(); }));
  }
  weights->finish();
  return {bytes, weights->packed()};
}

/// Fails at one operation as a full disk does.
class FullDisk final : public Disk {
 public:
  explicit FullDisk(std::size_t operations) : left_(operations) {}
  bool has_failed() const { return has_failed_; }

 protected:
  int before(const char*, const fs::path&) override {
    if (left_-- > 0) return 0;
    has_failed_ = true;
    return ENOSPC;
  }

 private:
  std::size_t left_;
  bool has_failed_ = false;
};

TEST_CASE("packed weights are mapped for as long as somebody has them, and no file stays open") {
  const test::TemporaryFolder folder;
  const fs::path file = folder / "weights";
  Heard heard;
  const std::size_t before = test::open_descriptors();
  for (int time = 0; time < 3; ++time) {  // made, then taken
    const auto weights = PackedWeightsFile::open_or_make(file, "key", heard.say);
    const Given given("Q4_K", Arithmetic::float32);
    std::optional<PackedMatrix> matrix = weights->matrix("own", [&] { return given.packed(); });
    weights->finish();
    CHECK(test::mappings_of(folder / "") > 0);
    matrix.reset();
  }
  CHECK(test::mappings_of(folder / "") == 0);
  CHECK(test::open_descriptors() == before);
  made_or_taken(folder / "another", heard.say);
  CHECK_FALSE(PackedWeightsFile::open(file, "another key", heard.say));
  CHECK(test::mappings_of(folder / "") == 0);
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("mapped weights are those that were packed, for every dtype and arithmetic",
          "[weights]") {
  const test::TemporaryFolder work;
  Heard heard;
  for (const Arithmetic arithmetic : arithmetics)
    for (const char* dtype : {"F32", "BF16", "F16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K", "Q5_0",
                              "Q5_1", "Q5_K", "Q2_K", "Q3_K", "IQ4_NL", "IQ4_XS", "MXFP4"}) {
      const Given given(dtype, arithmetic);
      const std::string expected = bytes_of_view(given.packed());
      const fs::path file = work / (std::string(dtype) + std::string(name_of(arithmetic)));
      {
        const auto weights = PackedWeightsFile::open_or_make(file, "key", heard.say);
        const auto pack = [&] { return given.packed(); };
        CHECK(bytes_of_view(weights->matrix("w", pack)) == expected);
        CHECK(bytes_of_view(weights->matrix("w", pack)) == expected);
        CHECK(weights->packed() == 1);
        weights->finish();
      }
      const auto weights = PackedWeightsFile::open_or_make(file, "key", heard.say);
      const PackedMatrix mapped =
          weights->matrix("w", [&]() -> PackedMatrix { throw Bug("packed"); });
      CHECK(bytes_of_view(mapped) == expected);
      CHECK(mapped.arithmetic == packs_as(arithmetic));
      CHECK(work_of(mapped).bytes == work_of(given.packed()).bytes);
      CHECK(weights->packed() == 0);
      CHECK_FALSE(weights->is_maker());
      // What it has not is packed, and the file stays as it is.
      CHECK(bytes_of_view(weights->matrix("another", [&] { return given.packed(); })) == expected);
      CHECK(weights->packed() == 1);
    }
  CHECK(heard.text.empty());
}

TEST_CASE("a file of packed weights that is cut or damaged is made anew and never used",
          "[weights]") {
  const test::TemporaryFolder work;
  const fs::path file = work / "w";
  Heard heard;
  const auto expected = made_or_taken(file, heard.say);
  CHECK(expected.second == 2);
  const std::string whole = read_bytes(file);
  const auto is_refused = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    heard.text.clear();
    CHECK(PackedWeightsFile::open(file, "key", heard.say) == nullptr);
    CHECK(heard.text.find(file.string()) == 0);
    CHECK(heard.text.find("is not used") != std::string::npos);
  };
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 3)
    is_refused(whole.substr(0, size));
  is_refused(whole.substr(0, whole.size() - 1));
  is_refused(whole + '\n');
  // One bit of the matrices, of the directory, and of the last line.
  const std::size_t directory = whole.find("{\"key\"");
  REQUIRE(directory != std::string::npos);
  for (const std::size_t byte :
       {std::size_t{0}, std::size_t{1}, std::size_t{19 * 512}, std::size_t{32 * 512 * 2 - 1},
        directory, directory + 100, whole.size() - 128, whole.size() - 100, whole.size() - 1})
    for (const char bit : {char(1), char(64)}) {
      std::string damaged = whole;
      damaged[byte] = static_cast<char>(damaged[byte] ^ bit);
      is_refused(damaged);
    }
  CHECK(made_or_taken(file, heard.say) == expected);
  CHECK(read_bytes(file) == whole);
  CHECK(made_or_taken(file, heard.say).second == 0);
  CHECK(PackedWeightsFile::open(file, "another key", heard.say) == nullptr);
}

TEST_CASE("packed weights that the disk does not take leave nothing", "[weights]") {
  const test::TemporaryFolder work;
  Heard heard;
  std::size_t failures = 0;
  for (std::size_t operations = 0;; ++operations) {
    FullDisk disk(operations);
    const fs::path file = work / "folder" / "w";
    try {
      made_or_taken(file, heard.say, disk);
    } catch (const NoPackedWeights& fault) {
      ++failures;
      CHECK(std::string(fault.what()).find("No space left on device") != std::string::npos);
    }
    if (!disk.has_failed()) break;
    // Only the last step, which forces the name of a file that is whole, can fail after it is
    // there.
    if (fs::exists(file)) {
      CHECK(PackedWeightsFile::open(file, "key", heard.say) != nullptr);
      fs::remove(file);
    }
    if (fs::exists(file.parent_path())) {
      CHECK(fs::is_empty(file.parent_path()));
      fs::remove(file.parent_path());
    }
  }
  CHECK(failures > 6);
  // A folder that cannot be, because a file has its name.
  CHECK_THROWS_AS(made_or_taken(work / "folder" / "w" / "x", heard.say), NoPackedWeights);
}

TEST_CASE("of many who want packed weights at once, one packs", "[weights]") {
  const test::TemporaryFolder work;
  // What a process that was killed has left.
  std::ofstream((work / "w.new").string()) << "the first half of";
  const std::string expected = made_or_taken(work / "another", [](const std::string&) {}).first;
  std::atomic<std::uint64_t> packed{0};
  std::atomic<int> different{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto [bytes, count] = made_or_taken(work / "w", [](const std::string&) {});
      packed += count;
      if (bytes != expected) ++different;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(packed == 2);
  CHECK(different == 0);
  CHECK_FALSE(fs::exists(work / "w.new"));
}

TEST_CASE("a maker of packed weights that makes no progress is not waited for", "[weights]") {
  const test::TemporaryFolder work;
  const OpenFile other(::open((work / "w.new").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  REQUIRE(::flock(other.descriptor(), LOCK_EX) == 0);
  Heard heard;
  try {
    PackedWeightsFile::open_or_make(work / "w", "key", heard.say, milliseconds(60));
    FAIL("it was waited for");
  } catch (const NoPackedWeights& fault) {
    CHECK(std::string(fault.what()).find("makes no progress") != std::string::npos);
  }
  CHECK(heard.text.find("waits for the process that packs") == 0);
  CHECK(fs::exists(work / "w.new"));
}

TEST_CASE("a maker of packed weights is waited for as long as its file grows", "[weights]") {
  using std::chrono::steady_clock;
  const milliseconds patience(1000);
  std::unique_ptr<PackedWeightsFile> made;
  // A busy machine may hold the maker up for as long: such an attempt is made again.
  for (steady_clock::duration longest_pause = patience; !made && longest_pause >= patience / 2;) {
    const test::TemporaryFolder work;
    OpenFile other(::open((work / "w.new").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    REQUIRE(::flock(other.descriptor(), LOCK_EX) == 0);
    longest_pause = {};
    std::atomic<int> faults{0};
    std::thread maker([&] {
      const auto until = steady_clock::now() + 2 * patience + patience / 2;
      for (auto last = steady_clock::now(); last < until;) {
        if (::write(other.descriptor(), "x", 1) != 1) ++faults;
        std::this_thread::sleep_for(milliseconds(10));
        longest_pause = std::max(longest_pause, steady_clock::now() - last);
        last = steady_clock::now();
      }
      other = OpenFile();
    });
    try {
      made = PackedWeightsFile::open_or_make(
          work / "w", "key", [](const std::string&) {}, patience);
    } catch (const NoPackedWeights&) {
    }
    maker.join();
    CHECK(faults == 0);
  }
  CHECK(made != nullptr);
}

TEST_CASE("the digest of packing tells arithmetics apart that pack apart", "[weights]") {
  const std::string plain = packing_digest(Arithmetic::float32);
  CHECK(plain == packing_digest(Arithmetic::float32));
  CHECK(plain != packing_digest(Arithmetic::tensor_core));
  CHECK(plain != packing_digest(Arithmetic::bfloat16_pairs));
  CHECK(packing_digest(Arithmetic::tensor_core) != packing_digest(Arithmetic::bfloat16_pairs));
  CHECK(packing_digest(Arithmetic::integer) != packing_digest(Arithmetic::bfloat16_pairs));
  // The steps of a chip are of the products, not of the weights.
  CHECK(packing_digest(Arithmetic::tensor_core) == packing_digest(Arithmetic::tensor_core_ampere));
}

}  // namespace tempera::gpu::packed_weights_file_test
