#pragma once

#include <chrono>
#include <functional>

#include "lab/judge/verdict.hpp"

namespace tempera::lab {

/// A case on which a kernel fails, and how.
struct FailingCase {
  JudgedCase judged;
  KernelVerdict verdict;
  std::size_t tried = 0;  ///< cases on which the kernel was judged on the way
};

/// Smaller models than one, each simpler in one respect: a token less, a listed row less, a row
/// uniform over its tokens, a token of a row less, the probabilities of a row in the proportion
/// 2 : 1 : 1 …. Going from one to the next comes to an end.
std::vector<reference::FiniteModel> smaller_models(const reference::FiniteModel& model);

/// The time that was given is over before everything is known.
struct TimeIsOver {};

/// Goes from a case that fails to smaller ones that still do, as shrink() says; `fails` is asked of
/// each that is smaller than the last that failed. BadInput and TimeIsOver from it count as no.
/// @return cases that `fails` was asked of
std::size_t shrink_case(JudgedCase& smallest, const std::function<bool(const JudgedCase&)>& fails,
                        std::chrono::duration<double> time);

/// The smallest case found on which the kernel still fails: from the given one, on which it does,
/// again and again to the first simpler one that fails too (a horizon shorter by one, or one of
/// smaller_models), until none does or the time is up. A case that the kernel refuses does not
/// count as failing.
/// @throw Bug if the kernel is sound on the given case
FailingCase shrink(const JudgedKernel& kernel, const JudgedCase& failing,
                   const reference::Rational& rounding = 0,
                   std::chrono::duration<double> time = std::chrono::seconds(60));

/// The model in the file format of docs/reference/exact.md, in one line.
std::string model_json(const reference::FiniteModel& model);

}  // namespace tempera::lab
