#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "python/bindings/errors.hpp"
#include "reference/numbers/matrix.hpp"
#include "tempera/exact.hpp"

namespace tempera::python {

/// Fractions cross to Python as their texts, "3/8", which tempera.exact reads as
/// fractions.Fraction.
std::vector<std::string> texts(const std::vector<reference::Rational>& numbers);
std::vector<std::string> texts(const std::vector<exact::Fraction>& numbers);
std::vector<std::vector<std::string>> texts(const reference::Matrix& matrix);
std::vector<std::vector<std::string>> texts(const std::vector<std::vector<exact::Fraction>>& rows);
std::vector<exact::Fraction> fractions(const std::vector<std::string>& texts);

void bind_finite_model(nb::module_& module);
void bind_judge(nb::module_& module);
void bind_laws(nb::module_& module);

}  // namespace tempera::python
