#include "serve/sessions/histogram.hpp"

#include <algorithm>
#include <cstdio>

namespace tempera::serve {
namespace {

std::string in_few_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

}  // namespace

void Histogram::add(std::chrono::duration<double> time) {
  const auto bucket = static_cast<std::size_t>(
      std::lower_bound(bounds.begin(), bounds.end(), time.count()) - bounds.begin());
  const std::scoped_lock lock(mutex_);
  ++counts_[bucket];
  sum_ += time.count();
}

void Histogram::write(std::string& text, const std::string& name, const std::string& help) const {
  const std::scoped_lock lock(mutex_);
  text += "# HELP " + name + " " + help + "\n# TYPE " + name + " histogram\n";
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    sum += counts_[bucket];
    const std::string bound = bucket < bounds.size() ? in_few_digits(bounds[bucket]) : "+Inf";
    text += name + "_bucket{le=\"" + bound + "\"} " + std::to_string(sum) + "\n";
  }
  text +=
      name + "_sum " + in_few_digits(sum_) + "\n" + name + "_count " + std::to_string(sum) + "\n";
}

}  // namespace tempera::serve
