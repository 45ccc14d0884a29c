#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace tempera {

/// Memory for what must not fail when the system has none: the destruction of what an exception
/// passes (the JSON library allocates there), an answer that says so, and the books of a server
/// that continues. The program's own `operator new` (cli/reserved_new.cpp) asks take() where the
/// allocator has failed, and its `operator delete` asks give_back() first.
///
/// The first object of this class takes the reserve from the system, if that has as much, for the
/// rest of the process: pieces may be about when it ends. While an object lives, a `new` that fails
/// throws std::bad_alloc, whatever handler the program has: one at a time.
class MemoryReserve {
 public:
  static constexpr std::size_t bytes = std::size_t{16} << 20;

  MemoryReserve();
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  /// Why a thread may take, in ascending order of how much. A thread whose exception is on its way
  /// takes as for an answer.
  enum class Purpose : std::uint8_t {
    none,         ///< nothing: whoever needs memory is to fail
    connections,  ///< small pieces of a quarter
    books,        ///< pieces of up to 1 MiB, as long as a quarter is left
    answers       ///< all
  };
  /// Lets the calling thread take for a purpose, for as long as it lives.
  class Use {
   public:
    explicit Use(Purpose purpose);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Purpose before_;
  };

  /// Returns null if the calling thread may not take as much, or as much is not left in one piece.
  static void* take(std::size_t size) noexcept;
  /// Returns false if the memory is not of the reserve.
  static bool give_back(void* memory) noexcept;
  /// True if less than half is left: whoever keeps books must end some of what they are about.
  static bool is_low() noexcept;

 private:
  std::new_handler before_;
};

}  // namespace tempera
