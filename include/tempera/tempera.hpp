#pragma once

/// @file
/// Everything that a program needs to draw answers: open a model, sample, score.

#include "tempera/error.hpp"
#include "tempera/model.hpp"
#include "tempera/options.hpp"
#include "tempera/sample.hpp"
#include "tempera/score.hpp"
