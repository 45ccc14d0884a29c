#include "gpu/input/json_place.hpp"

#include "gpu/input/in_quotes.hpp"

namespace tempera::gpu {

bool JsonPlace::follow(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
  using Event = nlohmann::json::parse_event_t;
  switch (event) {
    case Event::object_start:
      open_.push_back({false, 0, {}, {}});
      break;
    case Event::array_start:
      open_.push_back({true, 0, {}, {}});
      break;
    case Event::key:
      open_.back().key = parsed.get_ref<const std::string&>();
      return open_.back().keys.insert(open_.back().key).second;
    case Event::object_end:
    case Event::array_end:
      open_.pop_back();
      complete_entry();
      break;
    case Event::value:
      complete_entry();
      break;
  }
  return true;
}

void JsonPlace::complete_entry() {
  if (!open_.empty() && open_.back().is_array) ++open_.back().index;
}

std::string JsonPlace::path() const {
  std::string path;
  for (const Open& open : open_) {
    const std::string step = open.is_array ? std::to_string(open.index) : in_quotes(open.key);
    path += path.empty() && !open.is_array ? step : "[" + step + "]";
  }
  return path;
}

}  // namespace tempera::gpu
