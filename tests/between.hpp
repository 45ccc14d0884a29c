#pragma once
#include <rapidcheck.h>

/// A number of [least, most], all alike from the first case on. RapidCheck's own ranges grow with
/// the case: what a step is, or which of a few things it is done to, would hardly ever be the last
/// of the list.
template <class Number>
Number between(Number least, Number most) {
  return *rc::gen::resize(rc::kNominalSize,
                          rc::gen::inRange<Number>(least, static_cast<Number>(most + 1)));
}
