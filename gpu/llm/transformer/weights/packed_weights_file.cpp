#include "gpu/llm/transformer/weights/packed_weights_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "gpu/device/host_threads.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::steady_clock;

constexpr std::string_view closing_begins = "tempera packed weights 1";
/// The last line of a file: `closing_begins`, where its directory begins and its checksum, and
/// spaces.
constexpr std::size_t closing_line_bytes = 128;
constexpr std::uint64_t page_of_file = 4096;
constexpr std::size_t summed_at_once = std::size_t{1} << 22;

/// A file is of another key, cut or damaged.
class NotWhole final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A sum of up to summed_at_once bytes. Each lane's step is one to one in its word, so that one
/// word that differs always changes the sum; several lanes, because a multiplication takes its
/// time.
std::uint64_t sum_of_part(std::span<const std::byte> bytes) {
  constexpr std::size_t lanes_of_sum = 8;
  std::array<std::uint64_t, lanes_of_sum> lane{};
  for (std::size_t i = 0; i < lanes_of_sum; ++i) lane[i] = bytes.size() + i;
  const auto take = [&](const std::byte* from) {
    std::array<std::uint64_t, lanes_of_sum> words{};
    std::memcpy(words.data(), from, sizeof words);
    for (std::size_t i = 0; i < lanes_of_sum; ++i) {
      lane[i] = (lane[i] ^ words[i]) * 0x9E3779B97F4A7C15U;
      lane[i] ^= lane[i] >> 32;
    }
  };
  constexpr std::size_t step = lanes_of_sum * sizeof(std::uint64_t);
  std::size_t done = 0;
  for (; done + step <= bytes.size(); done += step) take(&bytes[done]);
  if (done < bytes.size()) {
    std::array<std::byte, step> rest{};
    std::memcpy(rest.data(), &bytes[done], bytes.size() - done);
    take(rest.data());
  }
  Checksum sum;
  sum.update({reinterpret_cast<const char*>(lane.data()), sizeof lane});
  return sum.value();
}

std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> parts((bytes.size() + summed_at_once - 1) / summed_at_once);
  on_host_threads(parts.size(), [&](std::size_t part) {
    const std::size_t begin = part * summed_at_once;
    parts[part] = sum_of_part(bytes.subspan(begin, std::min(summed_at_once, bytes.size() - begin)));
  });
  return sum_of_part(std::as_bytes(std::span(parts)));
}

bool are_zeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

/// Bytes of a file, mapped so that all processes share them.
std::shared_ptr<const void> map_shared(const OpenFile& open, std::uint64_t begin,
                                       std::uint64_t bytes) {
  void* const start =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, open.descriptor(), static_cast<off_t>(begin));
  if (start == MAP_FAILED) return nullptr;
  return {start, [bytes](const void* mapped) { ::munmap(const_cast<void*>(mapped), bytes); }};
}

std::uint64_t whole_pages(std::uint64_t size) {
  return (size + page_of_file - 1) / page_of_file * page_of_file;
}

bool have_one_file(const OpenFile& open, const fs::path& name) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(open.descriptor(), &opened) == 0 && ::stat(name.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

std::uint64_t bytes_in(const OpenFile& open) {
  struct stat status {};
  return ::fstat(open.descriptor(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string closing_line(std::uint64_t begin, std::string_view directory) {
  Checksum checksum;
  checksum.update(directory);
  std::string line;
  line.append(closing_begins).append(" ").append(std::to_string(begin)).append(" ");
  line.append(hexadecimal(checksum));
  line.resize(closing_line_bytes, ' ');
  line.back() = '\n';
  return line;
}

/// Waits for the lock of a file that another process makes, as long as that file grows.
/// @throw NoPackedWeights if it does not for `patience`, or nothing there can be locked
void wait_for_lock(const OpenFile& open, const fs::path& file, const PackedWeightsFile::Say& say,
                   std::chrono::milliseconds patience) {
  std::uint64_t size = 0;
  bool has_said = false;
  for (auto since = steady_clock::now(); ::flock(open.descriptor(), LOCK_EX | LOCK_NB) != 0;) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK)
      throw NoPackedWeights(file.string() + " cannot be locked " + reason(errno));
    if (!has_said) say("waits for the process that packs the weights into " + file.string());
    has_said = true;
    if (const std::uint64_t now = bytes_in(open); now != size) {
      size = now;
      since = steady_clock::now();
    }
    if (steady_clock::now() - since > patience)
      throw NoPackedWeights("the process that makes " + file.string() + " makes no progress");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace

PackedWeightsFile::PackedWeightsFile(fs::path file, std::string key, Disk& disk)
    : file_(std::move(file)), key_(std::move(key)), disk_(&disk) {}

std::unique_ptr<PackedWeightsFile> PackedWeightsFile::open(const fs::path& file,
                                                           const std::string& key, const Say& say) {
  std::unique_ptr<PackedWeightsFile> result(new PackedWeightsFile(file, key, Disk::real()));
  try {
    if (!is_there(file)) return nullptr;
    result->read();
    return result;
  } catch (const NotWhole& fault) {
    say(file.string() + " " + fault.what() + " and is not used");
  } catch (const json::exception&) {
    say(file.string() + " is not as tempera writes it and is not used");
  } catch (const BadInput& fault) {
    say(fault.what());
  }
  return nullptr;
}

std::unique_ptr<PackedWeightsFile> PackedWeightsFile::open_or_make(
    const fs::path& file, const std::string& key, const Say& say,
    std::chrono::milliseconds patience, Disk& disk) {
  if (auto there = open(file, key, say)) return there;
  std::unique_ptr<PackedWeightsFile> result(new PackedWeightsFile(file, key, disk));
  const fs::path unfinished = result->unfinished();
  try {
    disk.make_folders(file.parent_path());
    for (;;) {
      OpenFile open_new = disk.open_to_append(unfinished);
      wait_for_lock(open_new, unfinished, say, patience);
      // Whoever had the lock may have given the file its name, or removed it.
      if (!have_one_file(open_new, unfinished)) continue;
      result->made_ = std::move(open_new);
      break;
    }
    if (auto there = open(file, key, [](const std::string&) {})) return there;
    disk.cut(result->made_, 0, unfinished);  // what a process that was killed has left
  } catch (const BadInput& fault) {
    throw NoPackedWeights(fault.what());
  }
  return result;
}

PackedWeightsFile::~PackedWeightsFile() {
  if (made_ && !is_finished_ && have_one_file(made_, unfinished())) ::unlink(unfinished().c_str());
}

void PackedWeightsFile::read() {
  const OpenFile open(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open) throw NotWhole("cannot be read " + reason(errno));
  size_ = bytes_in(open);
  if (size_ < closing_line_bytes) throw NotWhole("is cut off");
  const auto mapping = map_shared(open, 0, size_);
  if (!mapping) throw NotWhole("cannot be mapped " + reason(errno));
  const std::span whole(static_cast<const std::byte*>(mapping.get()), size_);
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), size_);
  // The line says where the directory begins, and the directory which line that makes.
  const std::string_view line = text.substr(size_ - closing_line_bytes);
  if (!line.starts_with(closing_begins)) throw NotWhole("is cut off");
  const std::uint64_t begin =
      std::strtoull(std::string(line.substr(closing_begins.size())).c_str(), nullptr, 10);
  if (begin > size_ - closing_line_bytes) throw NotWhole("is damaged");
  const std::string_view directory = text.substr(begin, size_ - closing_line_bytes - begin);
  if (line != closing_line(begin, directory)) throw NotWhole("is damaged");
  const json read = json::parse(directory);
  if (read.at("key") != key_) throw NotWhole("is of another model");
  std::map<std::uint64_t, std::uint64_t> end_of_part{{0, 0}, {begin, begin}};  // by its begin
  for (const auto& [what, value] : read.at("matrices").items()) {
    Entry entry;
    entry.in = value.at("in");
    entry.out = value.at("out");
    entry.arithmetic = static_cast<Arithmetic>(value.at("arithmetic").get<int>());
    entry.stored_as = static_cast<StoredAs>(value.at("stored_as").get<int>());
    for (const auto& [name, place] :
         {std::pair{"weights", &entry.weights}, {"blocks", &entry.blocks}}) {
      *place = {value.at(name).at(0), value.at(name).at(1), value.at(name).at(2)};
      if (place->begin > begin || place->bytes > begin - place->begin ||
          sum_of(whole.subspan(place->begin, place->bytes)) != place->sum)
        throw NotWhole("is damaged");
      if (place->bytes != 0) end_of_part[place->begin] = place->begin + place->bytes;
    }
    entry.mapping = mapping;
    entries_.emplace(what, std::move(entry));
  }
  std::uint64_t end = 0;
  for (const auto& [next, end_of_next] : end_of_part) {
    if (next < end || !are_zeros(whole.subspan(end, next - end))) throw NotWhole("is damaged");
    end = end_of_next;
  }
}

PackedMatrix PackedWeightsFile::mapped(const Entry& entry) {
  const auto* const bytes = static_cast<const std::byte*>(entry.mapping.get());
  const auto* const blocks = bytes + (entry.blocks.begin - entry.mapped_at);
  PackedMatrix matrix;
  matrix.in = entry.in;
  matrix.out = entry.out;
  matrix.arithmetic = entry.arithmetic;
  matrix.weights = MappedMatrix{
      entry.stored_as,
      {bytes + (entry.weights.begin - entry.mapped_at), entry.weights.bytes},
      {reinterpret_cast<const std::uint64_t*>(blocks), entry.blocks.bytes / sizeof(std::uint64_t)},
      entry.mapping};
  return matrix;
}

PackedMatrix PackedWeightsFile::matrix(const std::string& what,
                                       const std::function<PackedMatrix()>& pack) {
  if (const auto found = entries_.find(what); found != entries_.end()) return mapped(found->second);
  PackedMatrix matrix = pack();
  ++packed_;
  if (!made_ || is_finished_) return matrix;
  return mapped(entries_.emplace(what, append(matrix)).first->second);
}

PackedWeightsFile::Place PackedWeightsFile::append(const void* bytes, std::uint64_t size) {
  const std::string gap(whole_pages(size_) - size_, '\0');
  const std::string_view content(static_cast<const char*>(bytes), size);
  try {
    disk_->append(made_, gap, unfinished());
    disk_->append(made_, content, unfinished());
  } catch (const BadInput& fault) {
    throw NoPackedWeights(fault.what());
  }
  const std::uint64_t begin = size_ + gap.size();
  size_ = begin + size;
  return {begin, size, sum_of(std::as_bytes(std::span(content)))};
}

/// Puts a matrix at the end of the file, and maps it there.
PackedWeightsFile::Entry PackedWeightsFile::append(const PackedMatrix& matrix) {
  Entry entry{matrix.in, matrix.out, matrix.arithmetic, matrix.stored_as(), {}, {}, nullptr, 0};
  entry.weights = std::visit(
      [this]<class Held>(const Held& held) {
        if constexpr (std::is_same_v<Held, MappedMatrix>) {
          return append(held.weights.data(), held.weights.size());
        } else {
          return append(held.data(), held.size() * sizeof(*held.data()));
        }
      },
      matrix.weights);
  entry.blocks = append(matrix.blocks.data(), matrix.blocks.size() * sizeof(std::uint64_t));
  entry.mapped_at = entry.weights.begin;
  entry.mapping =
      map_shared(made_, entry.mapped_at, std::max<std::uint64_t>(size_ - entry.mapped_at, 1));
  if (!entry.mapping)
    throw NoPackedWeights(unfinished().string() + " cannot be mapped " + reason(errno));
  return entry;
}

std::string PackedWeightsFile::directory() const {
  const auto of = [](const Place& place) { return json{place.begin, place.bytes, place.sum}; };
  json matrices = json::object();
  for (const auto& [what, entry] : entries_)
    matrices[what] = {{"in", entry.in},
                      {"out", entry.out},
                      {"arithmetic", static_cast<int>(entry.arithmetic)},
                      {"stored_as", static_cast<int>(entry.stored_as)},
                      {"weights", of(entry.weights)},
                      {"blocks", of(entry.blocks)}};
  return json{{"key", key_}, {"matrices", matrices}}.dump();
}

void PackedWeightsFile::finish() {
  if (!made_ || is_finished_) return;
  append(nullptr, 0);  // the directory begins at a multiple, too
  const std::string text = directory();
  const std::string end = text + closing_line(size_, text);
  try {
    disk_->append(made_, end, unfinished());
    disk_->force(made_, unfinished());
    disk_->rename(unfinished(), file_);
  } catch (const BadInput& fault) {
    throw NoPackedWeights(fault.what());
  }
  size_ += end.size();
  is_finished_ = true;
}

}  // namespace tempera::gpu
