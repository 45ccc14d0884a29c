// A law is a property that must hold for every generated input. RapidCheck prints the seed; set
// RC_PARAMS="seed=N" to pin it (./test and CI do).
#pragma once
#include <rapidcheck.h>

#include <string>

#include "tests/catch.hpp"

template <class Property>
void law(const std::string& statement, Property&& property) {
  INFO(statement);
  REQUIRE(rc::check(statement, std::forward<Property>(property)));
}
