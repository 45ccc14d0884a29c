#pragma once

#include "reference/model/finite_model.hpp"
#include "tempera/exact.hpp"

namespace tempera::exact {

/// What a public finite model is made of.
struct FiniteModel::Parts {
  reference::FiniteModel model;
};

inline FiniteModel finite_model(reference::FiniteModel model) {
  return FiniteModel(
      std::make_shared<const FiniteModel::Parts>(FiniteModel::Parts{std::move(model)}));
}

}  // namespace tempera::exact
