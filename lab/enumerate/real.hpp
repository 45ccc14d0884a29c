#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <string>

#include "reference/numbers/rational.hpp"

namespace tempera::lab {

/// 50 decimal digits: for targets at real powers, and for distances that are printed as decimals.
using Real = boost::multiprecision::cpp_bin_float_50;

/// The rational as a Real, with a relative error below 2^-166; numerator and denominator of any
/// length.
Real to_real(const reference::Rational& value);

/// `digits` significant digits, such as "4.123457e-14", or "0".
std::string to_scientific(const Real& value, int digits = 7);

}  // namespace tempera::lab
