#include "base/held_json.hpp"

#include <iterator>
#include <memory>

namespace tempera {
namespace {

/// empty_json() of either kind of JSON. A value inside is destroyed when it holds nothing itself,
/// for which the library allocates nothing.
template <class Json>
void take_all_from(Json& value) noexcept {
  if (auto* array = value.template get_ptr<typename Json::array_t*>()) {
    for (; !array->empty(); array->pop_back()) take_all_from(array->back());
  } else if (auto* object = value.template get_ptr<typename Json::object_t*>()) {
    while (!object->empty()) {
      const auto last = std::prev(object->end());
      take_all_from(last->second);
      object->erase(last);
    }
  } else if (value.is_structured()) {
    std::construct_at(&value);  // it has a kind and nothing of it
  }
}

}  // namespace

void empty_json(nlohmann::json& value) noexcept { take_all_from(value); }
void empty_json(nlohmann::ordered_json& value) noexcept { take_all_from(value); }

}  // namespace tempera
