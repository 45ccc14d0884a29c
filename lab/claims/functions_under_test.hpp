#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace tempera::lab {

/// What the checks judge: each a function of reference/, gpu/ or lab/, under its own name, in parts
/// by their subjects (record_functions.hpp and so on). A test replaces one by a defect and sees the
/// check fail. A check names the parts that it asks for, and reads no others.
class FunctionsUnderTest {
 public:
  /// A part as it is shipped, until a test replaces something in it.
  template <class Part>
  Part& of() {
    return part<Part>();
  }
  template <class Part>
  const Part& of() const {
    return part<Part>();
  }

 private:
  template <class Part>
  Part& part() const {
    std::any& kept = parts_[typeid(Part)];
    if (!kept.has_value()) kept = Part();
    return std::any_cast<Part&>(kept);
  }

  mutable std::map<std::type_index, std::any> parts_;
};

}  // namespace tempera::lab
