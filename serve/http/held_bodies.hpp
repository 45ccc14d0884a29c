#pragma once

#include <atomic>
#include <cstddef>

namespace tempera::serve {

/// The bytes of all bodies that a server holds: those on their way in, and those of requests that
/// nobody has read yet.
class HeldBodies {
 public:
  explicit HeldBodies(std::size_t most) : most_(most) {}
  HeldBodies(const HeldBodies&) = delete;
  HeldBodies& operator=(const HeldBodies&) = delete;

  std::size_t bytes() const { return bytes_; }

  /// What one body takes of them, until its end.
  class Share {
   public:
    explicit Share(HeldBodies& held) : held_(&held) {}
    ~Share() { give_back(); }
    Share(Share&& other) noexcept : held_(other.held_), bytes_(other.bytes_.exchange(0)) {}
    Share& operator=(Share&&) = delete;

    /// Returns false, and takes nothing more, if all shares together would take too much.
    bool grow_to(std::size_t bytes) {
      if (bytes <= bytes_) return true;
      const std::size_t more = bytes - bytes_;
      if (held_->bytes_.fetch_add(more) + more > held_->most_) {
        held_->bytes_ -= more;
        return false;
      }
      bytes_ = bytes;
      return true;
    }
    /// Any thread may call it, also while another does.
    void give_back() { held_->bytes_ -= bytes_.exchange(0); }

   private:
    HeldBodies* held_;
    std::atomic<std::size_t> bytes_ = 0;
  };

 private:
  const std::size_t most_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace tempera::serve
