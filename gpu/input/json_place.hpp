#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace tempera::gpu {

/// Where in a document a JSON parser stands, from the events that it reports.
class JsonPlace {
 public:
  /// Takes in the next event; false for a key that its object has had already.
  bool follow(nlohmann::json::parse_event_t event, const nlohmann::json& parsed);

  /// Objects and arrays that are open.
  std::size_t depth() const { return open_.size(); }
  /// The value that is being read: "a"["b"][2], empty at the root.
  std::string path() const;

 private:
  struct Open {
    bool is_array = false;
    std::size_t index = 0;  // of the entry that is being read
    std::string key;        // of the member that is being read
    std::set<std::string> keys;
  };
  void complete_entry();

  std::vector<Open> open_;
};

}  // namespace tempera::gpu
