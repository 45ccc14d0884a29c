#pragma once

#include <nlohmann/json.hpp>
#include <utility>

namespace tempera {

/// Takes from a value all that it holds, depth first and without allocating, so that it can be
/// destroyed where no memory is left. One that became an object or a list for which memory was then
/// missing, which the library cannot destroy, is null.
void empty_json(nlohmann::json& value) noexcept;
void empty_json(nlohmann::ordered_json& value) noexcept;

/// The owner of a JSON value whose size a client decides. The library's own destructor makes a list
/// of all that a value holds, and ends the program where memory has run out; this one allocates
/// nothing, also of a value that is half made.
template <class Json>
class Held {
 public:
  Held() = default;
  Held(Json json) : json_(std::move(json)) {}
  Held(Held&& other) noexcept : json_(std::move(other.json_)) {}
  /// The other one destroys what this one had.
  Held& operator=(Held&& other) noexcept {
    std::swap(json_, other.json_);
    return *this;
  }
  ~Held() { empty_json(json_); }

  Json& operator*() { return json_; }
  const Json& operator*() const { return json_; }
  Json* operator->() { return &json_; }
  const Json* operator->() const { return &json_; }

 private:
  Json json_;
};

using HeldJson = Held<nlohmann::json>;
using HeldOrderedJson = Held<nlohmann::ordered_json>;

}  // namespace tempera
