#pragma once

namespace tempera::gpu {

struct Chain;
class Observer;
struct Plan;
struct Progress;
class Task;

/// A sampler: Algorithm 1, or one of those that it is compared with (named_sampler.hpp).
using SamplerFunction = Task (*)(Chain&, const Plan&, Progress&, Observer*);

}  // namespace tempera::gpu
