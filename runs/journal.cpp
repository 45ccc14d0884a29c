#include "runs/journal.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tempera::gpu {
namespace {

constexpr std::string_view prefix_of_journals = "journal-";
/// What a line begins with: a checksum of 16 digits and a space.
constexpr std::size_t size_of_line_seal = 17;

}  // namespace

Journal::Journal(std::filesystem::path folder, const Checksum& checkpoint, Disk& disk)
    : folder_(std::move(folder)), checkpoint_(checkpoint), disk_(&disk), checksum_(checkpoint) {}

bool Journal::is_name(const std::string& name) { return name.starts_with(prefix_of_journals); }

std::string Journal::name() const {
  return std::string(prefix_of_journals) + hexadecimal(checkpoint_);
}

void Journal::read() {
  const std::filesystem::path path = file();
  if (!is_there(path)) return;
  has_file_ = true;
  std::size_t line_number = 0;
  read_lines(path, size_of(path), [&](const std::string& line) {
    ++line_number;
    const std::size_t size = std::min(size_of_line_seal, line.size());
    checksum_.update(std::string_view(line).substr(size));
    bytes_ += line.size() + 1;
    if (line.substr(0, size) != hexadecimal(checksum_) + ' ')
      throw BadInput(path.string() + ", line " + std::to_string(line_number),
                     "is not what the run wrote",
                     "remove this file: the run then resumes from its last checkpoint");
  });
  is_forced_ = bytes_ == 0;
}

void Journal::cut() {
  const std::filesystem::path path = file();
  if (is_there(path)) disk_->cut(disk_->open_to_append(path), bytes_, path);
}

void Journal::gather(std::string_view line) {
  checksum_.update(line);
  gathered_.append(hexadecimal(checksum_)).append(1, ' ').append(line).append(1, '\n');
}

void Journal::write() {
  if (failure_) std::rethrow_exception(failure_);
  if (gathered_.empty()) return;
  const std::filesystem::path path = file();
  try {
    if (!open_) open_ = disk_->open_to_append(path);
    has_file_ = true;
    disk_->append(open_, gathered_, path);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  bytes_ += gathered_.size();
  gathered_.clear();
  is_forced_ = false;
}

void Journal::append(std::string_view line) {
  gather(line);
  write();
}

void Journal::force() {
  write();
  if (is_forced_) return;
  if (!open_) open_ = disk_->open_to_append(file());
  disk_->force(open_, file());
  // Its name too, which is new since the checkpoint.
  disk_->force_names(folder_);
  is_forced_ = true;
}

void Journal::remove() {
  if (has_file_) disk_->remove(file());
}

void Journal::for_each(
    const std::function<void(std::string_view, const std::string&)>& take) const {
  if (bytes_ == 0) return;
  const std::filesystem::path path = file();
  std::size_t line_number = 0;
  read_lines(path, bytes_, [&](const std::string& line) {
    take(std::string_view(line).substr(size_of_line_seal),
         path.string() + ", line " + std::to_string(++line_number));
  });
}

}  // namespace tempera::gpu
