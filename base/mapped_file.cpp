#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

#include "base/regular_file.hpp"
#include "base/text_file.hpp"

namespace tempera {

MappedFile::MappedFile(const std::filesystem::path& file) {
  const int descriptor = open_regular_file(file, O_RDONLY);
  if (descriptor < 0) refuse_unreadable(file, errno);
  struct stat status {};
  int error = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISDIR(status.st_mode)) error = EISDIR;
  void* start = nullptr;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error == 0 && size > 0) {
    start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (start == MAP_FAILED) error = errno;
  }
  ::close(descriptor);
  if (error != 0) refuse_unreadable(file, error);
  if (size > 0) bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MappedFile::forget(std::span<const std::byte> part) const {
  const std::less_equal<const std::byte*> is_before;  // of any two pointers
  const std::byte* const end = part.data() + part.size();
  if (part.empty() || !is_before(bytes_.data(), part.data()) ||
      !is_before(end, bytes_.data() + bytes_.size())) {
    return;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(part.data() - bytes_.data()) / page * page;
  std::byte* const begin = const_cast<std::byte*>(bytes_.data()) + offset;
  // Only advice: if it is not taken the memory stays, and nothing else changes.
  ::madvise(begin, static_cast<std::size_t>(end - begin), MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tempera
