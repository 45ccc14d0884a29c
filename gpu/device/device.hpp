#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// A device as a user names it. It decides no bit.
struct Device {
  enum class Kind { host, cuda };
  Kind kind = Kind::host;
  unsigned index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

/// "cuda:1".
std::string name_of(const Device& device);

/// "host", "cuda", which is cuda:0, or one of them with a number: "cuda:1".
/// @throw BadInput naming `option` for any other text
Device device_named(std::string_view text, const std::string& option);

/// Several with commas between them, all different.
/// @throw BadInput as device_named, and for one that is named twice
std::vector<Device> devices_named(std::string_view text, const std::string& option);

/// Why there is no GPU of this number among so many, at least one, in one line; empty if there is.
std::string why_no_such_device(unsigned index, unsigned devices);

/// Makes a device that of the calling thread, for all that it computes from here on.
/// @param where that was named, for messages: "--device cuda:1"
/// @throw BadInput if this build has no such device, or this machine has none of this number. Every
/// number of a host is the host itself.
void enter_device(const Device& device, const std::string& where);

/// What a thread does that computes and has entered no device: it enters the one that
/// require_device was asked for last, in any thread.
void enter_chosen_device();

/// The number of the calling thread's device; 0 on the host.
unsigned entered_device();

}  // namespace tempera::gpu
