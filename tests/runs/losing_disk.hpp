// A disk that a power failure takes back to what was forced: the bytes of a file as they were when
// the file was last forced, the names in a folder as they were when the folder was. A file whose
// bytes were never forced is empty, and a folder whose name was not forced is gone with all in it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "base/disk.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

/// The power has failed.
struct PowerFailed {};

class LosingDisk final : public Disk {
 public:
  /// What a failure leaves of all that was not forced.
  enum class Leaves { nothing, names, bytes, everything, some };

  /// `folder`: what is lost is lost in it and below it; nothing of what is there now. `operations`:
  /// after so many the power fails.
  explicit LosingDisk(std::filesystem::path folder, std::size_t operations = SIZE_MAX)
      : folder_(std::move(folder)), left_(operations) {
    force(folder_);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      force(entry.path());
  }

  std::size_t operations() const { return done_; }

  /// Makes the folder what it is when the power is there again. `seed`: of what is left of some.
  void lose(Leaves leaves, unsigned seed = 0) {
    random_.seed(seed);
    const Tree now = read();
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      std::filesystem::remove_all(entry);
    write(folder_, number_of(folder_), now, leaves);
  }

 protected:
  int before(const char* operation, const std::filesystem::path& file) override {
    if (done_ == left_) throw PowerFailed{};
    ++done_;
    if (std::string(operation) == "forced to the disk") force(file);
    return 0;
  }

 private:
  /// The number of a file or folder, whatever its name is.
  using Number = std::uint64_t;
  using Names = std::map<std::string, Number>;
  struct Tree {
    std::map<Number, Names> folders;
    std::map<Number, std::string> files;
  };

  /// What has a number is held open, so that nothing else gets it.
  Number number_of(const std::filesystem::path& path) {
    OpenFile open(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    REQUIRE(::fstat(open.descriptor(), &status) == 0);
    held_.try_emplace(status.st_ino, std::move(open));
    return status.st_ino;
  }

  Names names_in(const std::filesystem::path& folder) {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names[entry.path().filename()] = number_of(entry.path());
    return names;
  }

  void force(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path))
      forced_.folders[number_of(path)] = names_in(path);
    else
      forced_.files[number_of(path)] = read_bytes(path);
  }

  Tree read() {
    Tree tree;
    tree.folders[number_of(folder_)] = names_in(folder_);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      const Number number = number_of(entry.path());
      if (entry.is_directory())
        tree.folders[number] = names_in(entry.path());
      else
        tree.files[number] = read_bytes(entry.path());
    }
    return tree;
  }

  std::string left_of(Number file, const Tree& now, Leaves leaves) {
    const std::string& forced = forced_.files[file];
    const auto found = now.files.find(file);
    if (found == now.files.end() || leaves == Leaves::nothing || leaves == Leaves::names)
      return forced;
    const std::string& here = found->second;
    if (leaves != Leaves::some) return here;
    if (!here.starts_with(forced)) return random_() % 2 == 0 ? forced : here;
    return here.substr(0, forced.size() + random_() % (here.size() - forced.size() + 1));
  }

  /// Writes what is left of a folder, which is there and empty.
  void write(const std::filesystem::path& folder, Number number, const Tree& now, Leaves leaves) {
    constexpr std::string_view beside = ".new";
    const auto found = now.folders.find(number);
    std::map<std::string, std::pair<std::optional<Number>, std::optional<Number>>> both;
    for (const auto& [name, forced] : forced_.folders[number]) both[name].first = forced;
    if (found != now.folders.end())
      for (const auto& [name, here] : found->second) both[name].second = here;
    std::map<std::string, bool> is_left;
    for (const auto& [name, numbers] : both) {
      // What was written beside its place has the one name or the other.
      std::string final_name = name;
      if (final_name.ends_with(beside)) final_name.resize(final_name.size() - beside.size());
      if (is_left.find(final_name) == is_left.end())
        is_left[final_name] = leaves == Leaves::names || leaves == Leaves::everything ||
                              (leaves == Leaves::some && random_() % 2 == 0);
      const auto here = is_left[final_name] ? numbers.second : numbers.first;
      if (!here) continue;
      if (now.folders.contains(*here) || forced_.folders.contains(*here)) {
        std::filesystem::create_directory(folder / name);
        write(folder / name, *here, now, leaves);
      } else {
        std::ofstream(folder / name, std::ios::binary) << left_of(*here, now, leaves);
      }
    }
  }

  std::filesystem::path folder_;
  std::size_t left_;
  std::size_t done_ = 0;
  Tree forced_;
  std::map<Number, OpenFile> held_;
  std::mt19937 random_;
};

}  // namespace tempera::gpu
